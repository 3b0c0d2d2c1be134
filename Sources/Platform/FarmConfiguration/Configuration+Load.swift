import FarmLogging
import Logging

extension Configuration {
    /// The kind of process that reads the configuration.
    package enum Purpose: Sendable {
        /// A command that only uses Redis. Such a command reads no credential files and no passwords.
        case client
        /// A coordinator. A coordinator needs readable credential files, and reads the passwords.
        case coordinator
    }

    /// The configuration file that is read by default, if it exists.
    package static let defaultFile = "pushfarm.yaml"

    /// The file that `pushfarm up` writes into its state folder for other commands, when it runs without a configuration file.
    package static let localFarmFile = "up.yaml"

    /// Reads the configuration. Flags override the environment, which overrides the file, which overrides the defaults.
    ///
    /// - Parameters:
    ///   - path: a YAML or JSON file. If this is nil, the file that the variable `PUSHFARM_CONFIG` names; without this variable,
    ///     ./pushfarm.yaml if this file exists.
    ///   - findsLocalFarm: whether to use the file that `pushfarm up` has written (``localFarmFile``), if there is no other file.
    ///   - environment: the process's environment. Only these variables are used: `PUSHFARM_…`, CREDENTIALS_DIRECTORY, and the
    ///     variables that the keys `password_env` name.
    package static func load(
        path: String?, environment: [String: String], overrides: [Override] = [], purpose: Purpose = .client,
        findsLocalFarm: Bool = false
    ) throws(ConfigurationError) -> Configuration {
        var path = path ?? environment[EnvironmentLayer.fileVariable]
        if path == nil, ConfigurationFile.exists(defaultFile) { path = defaultFile }
        if path == nil, findsLocalFarm {
            let named = overrides.last { $0.key == "state_dir" }?.text ?? environment["PUSHFARM_STATE_DIR"]
            let folder = FilePathText.resolve(named ?? "var", in: ConfigurationFile.workingDirectory)
            let file = folder + "/" + localFarmFile
            // This function does not use a file that other users can write, because they could change the gateways to which this
            // user's pushes go.
            if ConfigurationFile.isOnlyOurs(file) { path = file }
        }
        var text = ""
        if let path {
            do {
                text = try ConfigurationFile.read(path)
            } catch {
                throw ConfigurationError(source: nil, key: nil, problem: .unreadable(error.reason))
            }
        }
        return try read(
            text, file: path, environment: environment, overrides: overrides, purpose: purpose,
            workingDirectory: ConfigurationFile.workingDirectory)
    }

    /// Reads the configuration like ``load(path:environment:overrides:purpose:)``, from a text instead of a file.
    package static func read(
        _ text: String, file: String?, environment: [String: String] = [:], overrides: [Override] = [],
        purpose: Purpose = .client, workingDirectory: String = "/farm"
    ) throws(ConfigurationError) -> Configuration {
        var settings =
            try file.map { file throws(ConfigurationError) in try FileLayer(file: file).read(text) }
            ?? Settings()
        let variables = EnvironmentLayer(knownApps: settings.names(below: Schema.apps))
        settings.lay(over: try variables.read(environment))
        settings.lay(over: try FlagLayer.read(overrides))
        let reader = SettingReader(
            settings: settings, workingDirectory: workingDirectory, environment: environment, purpose: purpose
        )
        return try Configuration(reader, file: file)
    }

    private init(_ reader: SettingReader, file: String?) throws(ConfigurationError) {
        let home = file.map { FilePathText.resolve(FilePathText.folder(of: $0), in: reader.workingDirectory) }
        self.init(
            host: try reader.value(SettingPath("host"), .hostName) ?? ConfigurationFile.hostName,
            stateDirectory: try reader.file(SettingPath("state_dir"))
                ?? FilePathText.resolve("var", in: home ?? reader.workingDirectory))
        self.file = file
        guard privateRedisSocket.utf8.count <= RedisLocation.longestSocketPath else {
            throw reader.invalid(
                SettingPath("state_dir"), "the path is too long for the paths of the sockets in this folder")
        }
        redis = try Self.redis(reader)
        redisSource = reader.settings[Schema.redis]?.source
        for key in Self.keys { try key.read(reader, into: &self) }
        for name in reader.settings.names(below: Schema.apps) {
            apps.append(try AppReader(reader: reader, app: Schema.apps.appending(name), name: name).read())
        }
    }

    /// The keys that belong to the whole farm, in the order of the sample file.
    static var keys: [ConfigurationKey<Configuration>] {
        [
            .init("redis"),
            .init("redis_ca_file"),
            .init("redis_password_file", \.redisPasswordFile, .file),
            .init("state_dir"),
            .init("workers", \.workers, .workers),
            .init("shards", \.shards, .number(1...1024)),
            .init("host"),
            .init("program", \.program, .file),
            .init("job_records_kept", \.jobRecordsKept, .number(1...1_000_000_000)),
            .init("job_record_hours", \.jobRecordLife, .whole(1...24 * 366, of: .hours)),
            .init("log.level", \.log.level, .choice),
            .init("log.format", \.log.format, .choice),
            .init("log.file", \.log.file, .file),
            .init("metrics.listen", \.metrics, .parsed(MetricsAddress.init)),
            .init("alerts.backlog_age", \.alerts.backlogAge, .count(1...604_800, of: .seconds)),
            .init("alerts.error_share", \.alerts.errorShare, .number(1...100)),
            .init("alerts.redis_memory", \.alerts.redisMemory, .number(1...100)),
            .init("alerts.refused_jobs", \.alerts.refusedJobs, .number(1...1_000_000_000)),
            .init("alerts.repeat", \.alerts.again, .whole(10...604_800, of: .seconds)),
            .init("alerts.command", \.alerts.command, .text),
            .init("alerts.webhook", \.alerts.webhook, .parsed(WebhookAddress.init)),
        ]
    }

    private static func redis(_ reader: SettingReader) throws(ConfigurationError) -> RedisLocation? {
        let (trust, secret) = (Schema.ofRedis[0], Schema.ofRedis[1])
        let address = try reader.value(Schema.redis) { text, folder throws(InvalidValue) in
            try RedisLocation(text, relativeTo: folder)
        }
        let (caFile, passwordFile) = (try reader.file(trust), try reader.file(secret))
        guard var address else {
            if caFile != nil { throw reader.invalid(trust, "needs the key \"redis\", which is not set") }
            if passwordFile != nil {
                throw reader.invalid(secret, "needs the key \"redis\", which is not set")
            }
            return nil
        }
        if let caFile {
            guard address.usesTLS else { throw reader.invalid(trust, "needs a rediss:// address") }
            address.caFile = caFile
        }
        if let passwordFile {
            guard address.password == nil else {
                throw reader.invalid(secret, "the address in \"redis\" already contains a password")
            }
            address.password = try reader.secret(secret, file: passwordFile)
        }
        return address
    }
}

extension ValueType<String> {
    fileprivate static var hostName: Self {
        .parsed { text throws(InvalidValue) in
            // The host name is a part of Redis keys and of the names of shards' owners. In these texts, `:`, `{` and `}` have a
            // meaning.
            let isProper = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !":{}".utf8.contains($0) }
            guard isProper, text.utf8.count <= 128 else {
                throw InvalidValue("expected at most 128 printable characters without space, colon or braces")
            }
            return text
        }
    }
}

extension ValueType<WorkerCount> {
    fileprivate static var workers: Self {
        ValueType { reader, path throws(ConfigurationError) in
            if try reader.text(path) == "auto" { return .auto }
            return try ValueType<Int>.number(WorkerCount.range, or: "auto").read(reader, path)
                .map(WorkerCount.fixed)
        }
    }
}
