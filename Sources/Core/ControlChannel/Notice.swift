/// A notice of a worker to its coordinator.
package enum Notice: Equatable, Sendable {
    /// Connected to Redis and ready for shards.
    case hello(pid: Int32)
    /// Still alive, and its numbers.
    case heartbeat(Heartbeat)
    /// Results of this app wait to be settled.
    case reported(app: String)
    /// The gateway said something about the app that concerns more than one push.
    case doubt(app: String, Doubt, generation: UInt32, reason: String)
    /// The gateway accepted the credentials of this generation.
    case proved(app: String, generation: UInt32)
    /// Redis says that a shard of this app is not ours, though it was not withdrawn: the worker starts nothing more,
    /// and ends with status 75.
    case fenced(app: String)
    /// Shards that an order withdrew: the worker holds no batch of them any more.
    case released(app: String, shards: [UInt16])
    /// A gateway that says nothing of what it accepts said later than ever that so many pushes, counted as delivered, were lost.
    case late(app: String, pushes: UInt32, reason: String)
    /// A reading of the feedback service is over: how many tuples Redis has of it, and why it failed, or "".
    case feedback(app: String, reading: String, tuples: UInt64, error: String)

    /// What an answer puts in doubt.
    package enum Doubt: UInt8, CaseIterable, Sendable {
        /// The provider token is too old, or the connection belongs to another key.
        case credentialsStale
        case credentialsWrong
        /// The app's topic or environment, after some such answers in a row.
        case configurationWrong
    }
}

extension Notice: ControlMessage {
    package func write(to writer: inout ControlWriter) {
        switch self {
        case .hello(let pid): writer.message(1, pid)
        case .heartbeat(let heartbeat): writer.message(2, heartbeat)
        case .reported(let app): writer.message(3, app)
        case .doubt(let app, let doubt, let generation, let reason):
            writer.message(4, app, doubt.rawValue, generation, reason)
        case .proved(let app, let generation): writer.message(5, app, generation)
        case .fenced(let app): writer.message(6, app)
        case .released(let app, let shards): writer.message(7, app, shards)
        case .feedback(let app, let reading, let tuples, let error):
            writer.message(8, app, reading, tuples, error)
        case .late(let app, let pushes, let reason): writer.message(9, app, pushes, reason)
        }
    }

    package init(kind: UInt8, from reader: inout ControlReader) throws(ControlError) {
        switch kind {
        case 1: self = try reader.read(Self.hello)
        case 2: self = try reader.read(Self.heartbeat)
        case 3: self = try reader.read(Self.reported)
        case 4:
            let (app, doubt): (String, UInt8) = try reader.readAll()
            guard let doubt = Doubt(rawValue: doubt) else { throw .unknownKind(doubt) }
            self = .doubt(app: app, doubt, generation: try reader.read(), reason: try reader.read())
        case 5: self = try reader.read(Self.proved)
        case 6: self = try reader.read(Self.fenced)
        case 7: self = try reader.read(Self.released)
        case 8: self = try reader.read(Self.feedback)
        case 9: self = try reader.read(Self.late)
        default: throw .unknownKind(kind)
        }
    }
}
