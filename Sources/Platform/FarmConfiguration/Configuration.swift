package import FarmLogging
package import Logging

/// The farm's configuration. The configuration is read at the start and at each reload.
package struct Configuration: Sendable, Equatable {
    package struct Log: Sendable, Equatable {
        package var level: Logger.Level = .info
        package var format: LogFormat = .text
        /// Absolute path of the log file, which replaces standard error.
        package var file: String?
    }

    /// The file from which the configuration was read; nil if no file was read.
    package var file: String?
    /// The name of this host in the farm.
    package var host: String
    /// The configured Redis; nil if none is configured. See ``redisLocation(privateSocketExists:)``.
    package var redis: RedisLocation?
    /// The file, variable or flag that set ``redis``.
    package var redisSource: ConfigurationError.Source?
    /// Absolute path of the folder for sockets, the private Redis, and pid files.
    package var stateDirectory: String
    /// Absolute path of the program that an upgrade starts; nil starts the file of the running program.
    package var program: String?
    /// Absolute path of the file with Redis's password; nil without such a file.
    package var redisPasswordFile: String?
    package var workers: WorkerCount = .fixed(2)
    /// The number of virtual shards. The number is fixed when the farm first starts.
    package var shards = 64
    /// The maximum number of job records of finished jobs per app. The oldest job records are removed first.
    package var jobRecordsKept = 1_000_000
    /// How long the job record of a finished job is kept.
    package var jobRecordLife: Duration = .seconds(72 * 3600)
    package var log = Log()
    /// The address at which the coordinator serves metrics; nil: no metrics.
    package var metrics: MetricsAddress?
    package var alerts = AlertSettings()
    /// The configured apps, sorted by name.
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

    /// The file with the password of the private Redis. Only the file's owner may read the file.
    package var privateRedisPasswordFile: String { stateDirectory + "/redis.password" }

    /// Returns the address of the Redis to use: the configured Redis; without a configured Redis, the private Redis if its socket
    /// exists; otherwise the Redis on the default port of this host.
    package func redisLocation(privateSocketExists: Bool) -> RedisLocation {
        if let redis { return redis }
        guard privateSocketExists else { return .local }
        var location = RedisLocation(.unix(privateRedisSocket))
        // If the password file cannot be read, no error is thrown here: Redis then refuses the login, and the error of the login
        // names the cause.
        if ConfigurationFile.isOnlyOurs(privateRedisPasswordFile),
            let password = (try? ConfigurationFile.read(privateRedisPasswordFile))?.prefix(while: {
                !$0.isNewline
            }),
            !password.isEmpty
        {
            location.password = Password(String(password))
        }
        return location
    }

    /// Throws an error if the configuration has no apps, because a coordinator needs at least one app.
    package func requireApps() throws(ConfigurationError) {
        guard apps.isEmpty else { return }
        let reason = "no app is configured"
        throw ConfigurationError(
            source: file.map { .file($0, line: 1) }, key: "apps",
            problem: .missing(
                file == nil
                    ? "\(reason): there is no \(ConfigurationFile.workingDirectory)/\(Self.defaultFile), and --config names no file"
                    : reason))
    }
}

/// Limits and receivers of alerts.
package struct AlertSettings: Sendable, Equatable {
    /// An alert fires when an app's oldest open push is older than this number of seconds.
    package var backlogAge = 300
    /// An alert fires when more than this percentage of a minute's responses are errors.
    package var errorShare = 5
    /// An alert fires when Redis uses more than this percentage of its memory.
    package var redisMemory = 70
    /// An alert fires when an app has more refused jobs than this number in a minute.
    package var refusedJobs = 10
    /// A firing alert is sent again after this time.
    package var again: Duration = .seconds(3600)
    /// A shell command that runs for an alert. The command's environment describes the alert.
    package var command: String?
    package var webhook: WebhookAddress?

    package init() {}
}

/// The number of workers on a host.
package enum WorkerCount: Sendable, Equatable, CustomStringConvertible {
    case fixed(Int)
    /// The autoscaler chooses between one worker and one for each processor.
    case auto

    package static let range = 1...256

    /// The maximum number of workers on a host with `processors` processors.
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
