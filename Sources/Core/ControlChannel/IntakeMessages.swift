/// An order of a coordinator to the intake.
///
/// No order carries a key, a certificate or a provider token: the intake parses what producers send.
package enum IntakeOrder: Equatable, Sendable {
    /// The first order: the farm's Redis (a URL with its password, and the CA to trust there, in PEM, empty for the
    /// system's), the process's name (unique for every start), and the number of shards.
    case begin(redis: String, redisAuthority: [UInt8], name: String, shards: UInt16)
    /// An app that is new, or that changed.
    case app(IntakeSetup)
    /// An app that is no longer configured.
    case forget(app: String)
    /// The token that proves the coordinator's lease on the app's intake; empty when it has none.
    case fence(app: String, token: [UInt8])
    /// Log from this level on.
    case logLevel(String)
    /// Open the file again that is logged to.
    case reopenLogs
    /// Do the step that is under way, and exit.
    case finish(withinMilliseconds: UInt32)
}

extension IntakeOrder: ControlMessage {
    package func write(to writer: inout ControlWriter) {
        switch self {
        case .begin(let redis, let authority, let name, let shards):
            writer.message(1, redis, authority, name, shards)
        case .app(let setup): writer.message(2, setup)
        case .forget(let app): writer.message(3, app)
        case .fence(let app, let token): writer.message(4, app, token)
        case .finish(let milliseconds): writer.message(5, milliseconds)
        case .logLevel(let level): writer.message(6, level)
        case .reopenLogs: writer.message(7)
        }
    }

    package init(kind: UInt8, from reader: inout ControlReader) throws(ControlError) {
        switch kind {
        case 1: self = try reader.read(Self.begin)
        case 2: self = try reader.read(Self.app)
        case 3: self = try reader.read(Self.forget)
        case 4: self = try reader.read(Self.fence)
        case 5: self = try reader.read(Self.finish)
        case 6: self = try reader.read(Self.logLevel)
        case 7: self = .reopenLogs
        default: throw .unknownKind(kind)
        }
    }
}

/// What the intake has to know of an app to turn its jobs into batches. No secret is part of it.
package struct IntakeSetup: Equatable, Sendable {
    package var name: String
    /// The topic that a push type's suffix is added to.
    package var topic: String
    /// A longer job is refused unread.
    package var maxJobBytes: UInt64
    /// Tokens, or pushes, of one job.
    package var maxTokens: UInt32
    /// Of a payload, if the gateway takes less than push types allow; 0: it does not.
    package var maxPayloadBytes: UInt32
    /// Jobs may not choose another topic than the app's.
    package var hasOneTopic: Bool
    /// Topics that jobs may choose besides the app's own; nil: any.
    package var topics: [String]?
    /// Job records of finished jobs: how many are kept, and for how long.
    package var jobRecords: UInt64
    package var jobRecordSeconds: UInt64

    package init(
        name: String, topic: String, maxJobBytes: UInt64, maxTokens: UInt32, maxPayloadBytes: UInt32 = 0,
        hasOneTopic: Bool = false, topics: [String]? = nil, jobRecords: UInt64, jobRecordSeconds: UInt64
    ) {
        (self.name, self.topic) = (name, topic)
        (self.maxJobBytes, self.maxTokens) = (maxJobBytes, maxTokens)
        (self.maxPayloadBytes, self.hasOneTopic, self.topics) = (maxPayloadBytes, hasOneTopic, topics)
        (self.jobRecords, self.jobRecordSeconds) = (jobRecords, jobRecordSeconds)
    }
}

extension IntakeSetup: ControlValue {
    package func write(to writer: inout ControlWriter) {
        writer.write(name, topic, maxJobBytes, maxTokens, maxPayloadBytes)
        writer.write(hasOneTopic, topics, jobRecords, jobRecordSeconds)
    }

    package init(from reader: inout ControlReader) throws(ControlError) {
        (name, topic, maxJobBytes, maxTokens, maxPayloadBytes) = try reader.readAll()
        (hasOneTopic, topics, jobRecords, jobRecordSeconds) = try reader.readAll()
    }
}

/// A notice of the intake to its coordinator.
package enum IntakeNotice: Equatable, Sendable {
    /// Connected to Redis and ready for work.
    case hello
    /// Still alive, and its numbers.
    case heartbeat(Heartbeat)
    /// At work on jobs of the app: an end from now on may be one job's doing.
    case works(app: String)
    /// Waits for jobs, or for Redis: an end from now on accuses none of the app's jobs.
    case idle(app: String)
    /// Batches were delayed; the first is due then.
    case delayed(app: String, milliseconds: UInt64)
    /// Redis rejected this fencing token.
    case fenced(app: String, token: [UInt8])

    /// The intake's numbers; counts are since its start.
    package struct Heartbeat: Equatable, Sendable {
        /// Jobs that are done with, refused ones among them.
        package var jobs: UInt64 = 0
        package var refused: UInt64 = 0
        /// Pushes that were put into batches.
        package var pushes: UInt64 = 0
        package var residentBytes: UInt64 = 0

        package init() {}
    }
}

extension IntakeNotice.Heartbeat: ControlValue {
    package func write(to writer: inout ControlWriter) { writer.write(jobs, refused, pushes, residentBytes) }

    package init(from reader: inout ControlReader) throws(ControlError) {
        (jobs, refused, pushes, residentBytes) = try reader.readAll()
    }
}

extension IntakeNotice: ControlMessage {
    package func write(to writer: inout ControlWriter) {
        switch self {
        case .hello: writer.message(1)
        case .heartbeat(let heartbeat): writer.message(2, heartbeat)
        case .works(let app): writer.message(3, app)
        case .idle(let app): writer.message(4, app)
        case .delayed(let app, let milliseconds): writer.message(5, app, milliseconds)
        case .fenced(let app, let token): writer.message(6, app, token)
        }
    }

    package init(kind: UInt8, from reader: inout ControlReader) throws(ControlError) {
        switch kind {
        case 1: self = .hello
        case 2: self = try reader.read(Self.heartbeat)
        case 3: self = try reader.read(Self.works)
        case 4: self = try reader.read(Self.idle)
        case 5: self = try reader.read(Self.delayed)
        case 6: self = try reader.read(Self.fenced)
        default: throw .unknownKind(kind)
        }
    }
}
