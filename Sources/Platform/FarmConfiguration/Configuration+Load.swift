import FarmLogging
import Logging

extension Configuration {
    /// The process that reads the configuration.
    package enum Purpose: Sendable {
        /// A command that only uses Redis: credential files and passwords are not read.
        case client
        /// A coordinator: credential files must be readable, passwords are read.
        case coordinator
    }

    /// The default file, if it exists.
    package static let defaultFile = "pushfarm.yaml"

    /// The file that `pushfarm up` without a configuration file writes into its state folder for other commands.
    package static let localFarmFile = "up.yaml"

    /// Reads the configuration. Flags override the environment, which overrides the file, which overrides the defaults.
    ///
    /// - Parameters:
    ///   - path: YAML or JSON; nil: `PUSHFARM_CONFIG`, else ./pushfarm.yaml if it exists, else no file.
    ///   - findsLocalFarm: without a file, uses the file of a `pushfarm up` that runs in the state folder.
    ///   - environment: the process's environment; only `PUSHFARM_…`, `password_env` names and CREDENTIALS_DIRECTORY are used.
    package static func load(
        path: String?, environment: [String: String], overrides: [Override] = [], purpose: Purpose = .client,
        findsLocalFarm: Bool = false
    ) throws(ConfigurationError) -> Configuration {
        var path = path ?? environment[EnvironmentLayer.fileVariable]
        if path == nil, FileText.exists(defaultFile) { path = defaultFile }
        if path == nil, findsLocalFarm {
            let named = overrides.last { $0.key == "state_dir" }?.text ?? environment["PUSHFARM_STATE_DIR"]
            let folder = FilePathText.resolve(named ?? "var", in: FileText.workingDirectory)
            let file = folder + "/" + localFarmFile
            // If other users could write the file, they could redirect this user's pushes.
            if FileText.isOnlyOurs(file) { path = file }
        }
        var text = ""
        if let path {
            do {
                text = try FileText.read(path)
            } catch {
                throw ConfigurationError(place: nil, key: nil, problem: .unreadable(error.reason))
            }
        }
        return try read(
            text, file: path, environment: environment, overrides: overrides, purpose: purpose,
            workingDirectory: FileText.workingDirectory)
    }

    /// As ``load(path:environment:overrides:purpose:)``, from a text.
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
            settings: settings, workingDirectory: workingDirectory,
            credentialsDirectory: environment[SettingReader.credentialsVariable])
        return try Configuration(reader, file: file, environment: environment, purpose: purpose)
    }

    private init(
        _ reader: SettingReader, file: String?, environment: [String: String], purpose: Purpose
    ) throws(ConfigurationError) {
        let home = file.map { FilePathText.resolve(FilePathText.folder(of: $0), in: reader.workingDirectory) }
        self.init(
            host: try Self.host(reader) ?? FileText.hostName,
            stateDirectory: try reader.file(SettingPath("state_dir"))
                ?? FilePathText.resolve("var", in: home ?? reader.workingDirectory))
        self.file = file
        guard privateRedisSocket.utf8.count <= RedisLocation.longestSocketPath else {
            throw reader.invalid(SettingPath("state_dir"), "the path is too long for the sockets in it")
        }
        redis = try Self.redis(reader)
        redisPlace = reader.settings[Schema.redis]?.place
        redisPasswordFile = try reader.file(SettingPath("redis_password_file"))
        program = try reader.file(SettingPath("program"))
        if let count = try Self.workers(reader) { workers = count }
        try reader.read(SettingPath("shards"), in: 1...1024, into: &shards)
        try reader.read(SettingPath("job_records_kept"), in: 1...1_000_000_000, into: &jobRecordsKept)
        if let hours = try reader.number(SettingPath("job_record_hours"), in: 1...24 * 366, unit: 3_600_000) {
            jobRecordLife = .seconds(hours * 3600)
        }
        if let level = try reader.choice(SettingPath("log", "level"), as: Logger.Level.self) {
            log.level = level
        }
        if let format = try reader.choice(SettingPath("log", "format"), as: LogFormat.self) {
            log.format = format
        }
        log.file = try reader.file(SettingPath("log", "file"))
        metrics = try reader.value(SettingPath("metrics", "listen")) { text, _ throws(InvalidValue) in
            try MetricsPlace(text)
        }
        alerts = try AlertSettings(reader)
        for name in reader.settings.names(below: Schema.apps) {
            let path = Schema.apps.appending(name)
            let app = AppReader(
                reader: reader, app: path, name: name, purpose: purpose, environment: environment)
            apps.append(try app.read())
        }
    }

    private static func host(_ reader: SettingReader) throws(ConfigurationError) -> String? {
        try reader.value(SettingPath("host")) { text, _ throws(InvalidValue) in
            // The name is part of shard owners and keys, where `:` and `}` have a meaning.
            let isProper = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !":{}".utf8.contains($0) }
            guard isProper, text.utf8.count <= 128 else {
                throw InvalidValue("expected at most 128 printable characters without space, colon or braces")
            }
            return text
        }
    }

    private static func redis(_ reader: SettingReader) throws(ConfigurationError) -> RedisLocation? {
        let (trust, secret) = (SettingPath("redis_ca_file"), SettingPath("redis_password_file"))
        let address = try reader.value(Schema.redis) { text, folder throws(InvalidValue) in
            try RedisLocation(text, relativeTo: folder)
        }
        let (caFile, passwordFile) = (try reader.file(trust), try reader.file(secret))
        guard var address else {
            if caFile != nil { throw reader.invalid(trust, "belongs to redis, which is not set") }
            if passwordFile != nil { throw reader.invalid(secret, "belongs to redis, which is not set") }
            return nil
        }
        if let caFile {
            guard address.usesTLS else { throw reader.invalid(trust, "needs a rediss:// address") }
            address.caFile = caFile
        }
        if let passwordFile {
            guard address.password == nil else {
                throw reader.invalid(secret, "the address holds a password too")
            }
            address.password = try reader.secret(secret, file: passwordFile)
        }
        return address
    }

    private static func workers(_ reader: SettingReader) throws(ConfigurationError) -> WorkerCount? {
        let path = SettingPath("workers")
        if try reader.text(path) == "auto" { return .auto }
        do {
            return try reader.number(path, in: WorkerCount.range).map(WorkerCount.fixed)
        } catch {
            guard case .wrongType(let expected, let found) = error.problem else { throw error }
            throw ConfigurationError(
                place: error.place, key: error.key,
                problem: .wrongType(expected: expected + ", or auto", found: found))
        }
    }
}

extension SettingReader {
    /// The first line of a file that holds a password.
    func secret(_ path: SettingPath, file: String) throws(ConfigurationError) -> Password {
        let text: String
        do {
            text = try contents(file)
        } catch {
            throw invalid(path, error.reason)
        }
        let line = text.prefix { !$0.isNewline }
        guard !line.isEmpty else { throw invalid(path, "\(file): its first line is empty") }
        return Password(String(line))
    }
}
