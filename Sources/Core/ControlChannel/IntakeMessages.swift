/// A message from a coordinator to the intake.
///
/// No message contains a key, a certificate or a provider token, because the intake parses data from producers.
package enum IntakeMessage: Equatable, Sendable {
    /// The first message. `redis` is the URL of the farm's Redis with its password. `redisTrustedCA` is the trusted CA in PEM;
    /// empty: the system's CAs. `name` is the unique name of the process, and `shards` is the number of shards of the farm.
    case begin(redis: String, redisTrustedCA: [UInt8], name: String, shards: UInt16)
    /// An app is new or changed.
    case app(IntakeSetup)
    /// An app is no longer configured.
    case forget(app: String)
    /// The token that proves the coordinator's lease on the app's intake; empty without a lease.
    case fence(app: String, token: [UInt8])
    /// Log messages of this level and above.
    case logLevel(String)
    /// Reopen the log file.
    case reopenLogs
    /// Finish the current step, and exit.
    case finish(withinMilliseconds: UInt32)
}

extension IntakeMessage: ControlMessage {
    package func write(to writer: inout ControlWriter) {
        switch self {
        case .begin(let redis, let trustedCA, let name, let shards):
            writer.message(1, redis, trustedCA, name, shards)
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

/// The settings that the intake needs for an app's jobs and devices. The only secret that they contain is the password of the
/// registry's Redis.
package struct IntakeSetup: Equatable, Sendable {
    package var name: String
    /// The app's topic. For some push types, a suffix is added to the topic.
    package var topic: String
    /// Maximum bytes of a job. A larger job is refused without being parsed.
    package var maxJobBytes: UInt64
    /// Maximum number of tokens or of pushes in one job.
    package var maxTokens: UInt32
    /// Maximum bytes of a payload, if the gateway accepts less than the push types allow; 0: no extra limit.
    package var maxPayloadBytes: UInt32
    /// Whether each job must use the app's topic.
    package var hasOneTopic: Bool
    /// Topics that jobs may use besides the app's topic; nil: any topic.
    package var topics: [String]?
    /// Whether a device's address without an environment belongs to the sandbox.
    package var isSandbox: Bool
    /// The URL, with its password, of the Redis with the app's registry of devices; empty: the farm's Redis.
    package var registry: String
    /// The app's configured rate limit for the whole farm, in pushes a second; 0: no limit.
    package var maxRate: Double
    /// The maximum number of background pushes to a stored device in an hour; 0: no limit.
    package var backgroundBudget: UInt32
    /// The maximum number of job records of finished jobs to keep.
    package var jobRecords: UInt64
    /// How many seconds to keep the job record of a finished job.
    package var jobRecordSeconds: UInt64

    package init(
        name: String, topic: String, maxJobBytes: UInt64, maxTokens: UInt32, maxPayloadBytes: UInt32 = 0,
        hasOneTopic: Bool = false, topics: [String]? = nil, isSandbox: Bool = false, registry: String = "",
        maxRate: Double = 0, backgroundBudget: UInt32 = 0, jobRecords: UInt64, jobRecordSeconds: UInt64
    ) {
        (self.name, self.topic) = (name, topic)
        (self.maxJobBytes, self.maxTokens) = (maxJobBytes, maxTokens)
        (self.maxPayloadBytes, self.hasOneTopic, self.topics) = (maxPayloadBytes, hasOneTopic, topics)
        (self.isSandbox, self.registry, self.maxRate) = (isSandbox, registry, maxRate)
        self.backgroundBudget = backgroundBudget
        (self.jobRecords, self.jobRecordSeconds) = (jobRecords, jobRecordSeconds)
    }
}

extension IntakeSetup: ControlValue {
    package func write(to writer: inout ControlWriter) {
        writer.write(name, topic, maxJobBytes, maxTokens, maxPayloadBytes)
        writer.write(
            hasOneTopic, topics, isSandbox, registry, maxRate, backgroundBudget, jobRecords, jobRecordSeconds)
    }

    package init(from reader: inout ControlReader) throws(ControlError) {
        (name, topic, maxJobBytes, maxTokens, maxPayloadBytes) = try reader.readAll()
        (hasOneTopic, topics, isSandbox, registry) = try reader.readAll()
        (maxRate, backgroundBudget, jobRecords, jobRecordSeconds) = try reader.readAll()
    }
}

/// A notice from the intake to its coordinator.
package enum IntakeNotice: Equatable, Sendable {
    /// The intake is connected to Redis and ready for work.
    case hello
    /// A sign of life with the intake's numbers.
    case heartbeat(Heartbeat)
    /// The intake is processing jobs of the app. If the intake crashes from now on, one of the app's jobs may be the cause.
    case works(app: String)
    /// The intake waits for jobs or for Redis. If the intake crashes from now on, the crash counts against none of the app's
    /// jobs.
    case idle(app: String)
    /// Batches were delayed. The app's first delayed batch is due after this number of milliseconds.
    case delayed(app: String, milliseconds: UInt64)
    /// Redis rejected this fencing token.
    case fenced(app: String, token: [UInt8])
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
