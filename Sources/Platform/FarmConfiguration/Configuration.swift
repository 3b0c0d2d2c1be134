package import FarmLogging
package import Logging

/// The farm's configuration as one value, read at the start and at each reload.
package struct Configuration: Sendable, Equatable {
    package struct Log: Sendable, Equatable {
        package var level: Logger.Level = .info
        package var format: LogFormat = .text
        /// Absolute path of the log file, which replaces standard error.
        package var file: String?
    }

    /// The file it was read from, if there was one.
    package var file: String?
    /// The name of this host in the farm.
    package var host: String
    /// Nil when none is configured: see ``redisLocation(privateSocketExists:)``.
    package var redis: RedisLocation?
    /// Where the address of ``redis`` was given.
    package var redisPlace: ConfigurationError.Place?
    /// Absolute path of the folder for sockets, the private Redis, and pid files.
    package var stateDirectory: String
    /// Absolute path of the program that an upgrade starts; nil: the file of the running program.
    package var program: String?
    /// Absolute path of the file that holds Redis's password, if there is one.
    package var redisPasswordFile: String?
    package var workers: WorkerCount = .fixed(2)
    /// Virtual shards; fixed when the farm is first started.
    package var shards = 64
    /// Most job records of finished jobs per app; the oldest are removed first.
    package var jobRecordsKept = 1_000_000
    /// How long the job record of a finished job is kept.
    package var jobRecordLife: Duration = .seconds(72 * 3600)
    package var log = Log()
    /// The address of the coordinator's metrics; nil: off.
    package var metrics: MetricsPlace?
    package var alerts = AlertSettings()
    /// Sorted by name.
    package var apps: [AppConfiguration] = []

    package init(host: String, stateDirectory: String) {
        self.host = host
        self.stateDirectory = stateDirectory
    }

    package func app(named name: String) -> AppConfiguration? {
        apps.first { $0.name == name }
    }

    /// The Unix socket of the private Redis that `pushfarm up` runs.
    package var privateRedisSocket: String { stateDirectory + "/redis.sock" }

    /// The password of that Redis, in a file that only its user may read.
    package var privateRedisPasswordFile: String { stateDirectory + "/redis.password" }

    /// The Redis to use: the configured one, else the private one if it runs, else the local default.
    package func redisLocation(privateSocketExists: Bool) -> RedisLocation {
        if let redis { return redis }
        guard privateSocketExists else { return .local }
        var location = RedisLocation(.unix(privateRedisSocket))
        if FileText.isOnlyOurs(privateRedisPasswordFile),
            let password = (try? FileText.read(privateRedisPasswordFile))?.prefix(while: { !$0.isNewline }),
            !password.isEmpty
        {
            location.password = Password(String(password))
        }
        return location
    }

    /// A coordinator refuses a configuration without apps.
    package func requireApps() throws(ConfigurationError) {
        guard apps.isEmpty else { return }
        let reason = "no app is configured"
        throw ConfigurationError(
            place: file.map { .file($0, line: 1) }, key: "apps",
            problem: .missing(
                file == nil
                    ? "\(reason): there is no \(FileText.workingDirectory)/\(Self.defaultFile), and --config names no file"
                    : reason))
    }
}

/// Limits and receivers of alerts.
package struct AlertSettings: Sendable, Equatable {
    /// Seconds that the oldest push of an app may wait.
    package var backlogAge = 300
    /// Percent of the responses of a minute.
    package var errorShare = 5
    /// Percent of Redis's memory.
    package var redisMemory = 70
    /// Refused jobs of an app in a minute.
    package var refusedJobs = 10
    /// A firing alert is sent again after this time.
    package var again: Duration = .seconds(3600)
    /// A shell command; its environment describes the alert.
    package var command: String?
    package var webhook: WebhookAddress?

    package init() {}
}

/// How many workers a host runs.
package enum WorkerCount: Sendable, Equatable, CustomStringConvertible {
    case fixed(Int)
    /// From one worker to one for each processor, by load.
    case auto

    package static let range = 1...256

    /// The greatest number.
    package func count(processors: Int) -> Int {
        switch self {
        case .fixed(let count): count
        case .auto: min(max(processors, Self.range.lowerBound), Self.range.upperBound)
        }
    }

    package var description: String {
        switch self {
        case .fixed(let count): String(count)
        case .auto: "auto"
        }
    }
}
