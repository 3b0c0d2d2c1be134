/// A notice from a worker to its coordinator.
package enum WorkerNotice: Equatable, Sendable {
    /// The worker is connected to Redis and ready for shards.
    case hello(pid: Int32)
    /// A sign of life with the worker's numbers.
    case heartbeat(Heartbeat)
    /// The worker has reported outcomes of this app's pushes, which the coordinator must settle.
    case reported(app: String)
    /// A gateway response rejects a setting of the whole app, and not only one push.
    case settingRejected(app: String, RejectedSetting, generation: UInt32, reason: String)
    /// The gateway accepted the credentials of this generation.
    case credentialsAccepted(app: String, generation: UInt32)
    /// Redis shows another owner for a shard that was not withdrawn from this worker. The worker starts no more work, and exits
    /// with status 75.
    case fenced(app: String)
    /// A message has withdrawn these shards, and the worker has returned all their batches.
    case released(app: String, shards: [UInt16])
    /// A binary gateway reported too late that pushes were lost. `pushes` is the number of lost pushes that already count as
    /// delivered.
    case deliveredPushesLost(app: String, pushes: UInt32, reason: String)
    /// A reading of the feedback service ended. `tuples` is the number of tuples that Redis stored; `error` is the reason of a
    /// failure, or empty.
    case feedback(app: String, reading: String, tuples: UInt64, error: String)

    /// The setting that a gateway response rejects.
    package enum RejectedSetting: UInt8, CaseIterable, Sendable {
        /// The provider token is too old, or the connection was authenticated with another signing key.
        case credentialsStale
        case credentialsWrong
        /// Several responses in a row say that the app's topic or environment may be wrong.
        case configurationWrong
    }
}

extension WorkerNotice: ControlMessage {
    package func write(to writer: inout ControlWriter) {
        switch self {
        case .hello(let pid): writer.message(1, pid)
        case .heartbeat(let heartbeat): writer.message(2, heartbeat)
        case .reported(let app): writer.message(3, app)
        case .settingRejected(let app, let setting, let generation, let reason):
            writer.message(4, app, setting.rawValue, generation, reason)
        case .credentialsAccepted(let app, let generation): writer.message(5, app, generation)
        case .fenced(let app): writer.message(6, app)
        case .released(let app, let shards): writer.message(7, app, shards)
        case .feedback(let app, let reading, let tuples, let error):
            writer.message(8, app, reading, tuples, error)
        case .deliveredPushesLost(let app, let pushes, let reason): writer.message(9, app, pushes, reason)
        }
    }

    package init(kind: UInt8, from reader: inout ControlReader) throws(ControlError) {
        switch kind {
        case 1: self = try reader.read(Self.hello)
        case 2: self = try reader.read(Self.heartbeat)
        case 3: self = try reader.read(Self.reported)
        case 4:
            let (app, value): (String, UInt8) = try reader.readAll()
            guard let setting = RejectedSetting(rawValue: value) else { throw .unknownKind(value) }
            self = .settingRejected(
                app: app, setting, generation: try reader.read(), reason: try reader.read())
        case 5: self = try reader.read(Self.credentialsAccepted)
        case 6: self = try reader.read(Self.fenced)
        case 7: self = try reader.read(Self.released)
        case 8: self = try reader.read(Self.feedback)
        case 9: self = try reader.read(Self.deliveredPushesLost)
        default: throw .unknownKind(kind)
        }
    }
}
