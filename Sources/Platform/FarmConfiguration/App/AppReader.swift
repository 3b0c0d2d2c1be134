import PushModel

/// Reads the configuration of one app from the settings.
struct AppReader {
    let reader: SettingReader
    let app: SettingPath
    let name: String

    func read() throws(ConfigurationError) -> AppConfiguration {
        guard Self.isName(name, upTo: 64) else {
            throw reader.invalid(app, "an app's name must have 1 to 64 characters of A-Z a-z 0-9 _ . -")
        }
        let environment =
            try reader.value(path("environment"), .choice) ?? AppConfiguration.Environment.production
        var result = AppConfiguration(
            name: name, topic: try topic(), gateway: environment.gateway, credentials: try credentials())
        result.environment = environment
        try readGateway(&result)
        for key in AppConfiguration.keys { try key.read(reader, below: app, into: &result) }
        try readConnections(&result)
        // Binary gateways treat rapid reconnecting as an attack, so the default of the longest backoff is higher.
        if result.binary != nil { result.use.maxDialBackOff = .seconds(180) }
        for key in AppConfiguration.useKeys { try key.read(reader, below: app, into: &result) }
        try check(&result.use)
        return result
    }

    private func path(_ key: String) -> SettingPath { app.appending(key) }

    private func topic() throws(ConfigurationError) -> String {
        guard let topic = try reader.text(path("topic")) else {
            throw reader.missing(
                path("topic"), "is missing: the app's bundle id, as in com.example.\(name)")
        }
        guard Self.isTopic(topic) else {
            throw reader.invalid(
                path("topic"),
                "expected a bundle id such as com.example.\(name), found \"\(topic.prefix(40))\"")
        }
        return topic
    }

    static func isTopic(_ text: String) -> Bool { isName(text, upTo: 255) }

    private static func isName(_ text: String, upTo length: Int) -> Bool {
        (1...length).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isLetterOrDigit || "_.-".utf8.contains($0) }
    }

    /// Reads the gateway's address and the keys of its protocol.
    private func readGateway(_ result: inout AppConfiguration) throws(ConfigurationError) {
        let address = try reader.value(path("gateway")) { text, _ throws(InvalidValue) in
            let wanted = "https://host:port, or tls://host:port for the binary protocol"
            guard let parts = LocatorText(text) else { throw InvalidValue("expected \(wanted)") }
            switch parts.scheme {
            case "https": return (hostPort: try HostPort(parts, defaultPort: 443), isBinary: false)
            case "tls": return (try HostPort(parts, defaultPort: 2195), true)
            case "http":
                throw InvalidValue(
                    "the farm sends to a gateway only over TLS: use https:// instead of http://")
            default: throw InvalidValue("expected \(wanted), found \(parts.scheme)://")
            }
        }
        if let address { result.gateway = address.hostPort }
        guard address?.isBinary == true else {
            let reason = "belongs to the binary protocol, which needs a gateway of the form tls://host:port"
            for key in BinaryGateway.keys { try refuse(key, reason) }
            for key in AppConfiguration.http2Keys { try key.read(reader, below: app, into: &result) }
            return
        }
        guard case .certificate = result.credentials else {
            throw reader.invalid(
                path("key"), "a binary gateway knows apps by their certificate only; give certificate: {file}"
            )
        }
        var binary = BinaryGateway()
        for key in BinaryGateway.keys { try key.read(reader, below: app, into: &binary) }
        result.binary = binary
        for key in AppConfiguration.http2Keys {
            try refuse(key, "belongs to HTTP/2, and the gateway is tls://host:port")
        }
    }

    private func refuse<Target>(
        _ key: ConfigurationKey<Target>, _ reason: String
    ) throws(ConfigurationError) {
        let path = SettingPath(parts: app.parts + key.path.parts)
        if try reader.text(path) != nil { throw reader.invalid(path, reason) }
    }

    /// `connections: N` sets both the minimum and the maximum number.
    private func readConnections(_ result: inout AppConfiguration) throws(ConfigurationError) {
        let number = ValueType<Int>.number(1...64)
        let count = try reader.value(path("connections"), number)
        let (min, max) = (
            try reader.value(path("min_conns"), number), try reader.value(path("max_conns"), number)
        )
        if count != nil, let other = min != nil ? "min_conns" : max != nil ? "max_conns" : nil {
            throw reader.invalid(
                path("connections"),
                "there is \(other) too; connections is short for min_conns and max_conns")
        }
        let isBinary = result.binary != nil
        result.connections = count ?? (isBinary ? max : nil)
        result.use.minConnections = (isBinary ? nil : count) ?? min ?? 1
        result.use.maxConnections =
            count ?? max ?? Swift.max(result.use.maxConnections, result.use.minConnections)
        guard result.use.minConnections <= result.use.maxConnections else {
            throw reader.invalid(
                path("min_conns"),
                "is \(result.use.minConnections), and max_conns is \(result.use.maxConnections)")
        }
    }

    private func check(_ use: inout GatewayUse) throws(ConfigurationError) {
        guard use.pollInterval <= use.minSustain else {
            throw reader.invalid(
                path("poll_interval"), "is longer than min_sustain, which must be several times as long")
        }
        let (least, most) = (path("min_dial_back_off"), path("max_dial_back_off"))
        if reader.settings[most] == nil { use.maxDialBackOff = max(use.maxDialBackOff, use.minDialBackOff) }
        guard use.minDialBackOff <= use.maxDialBackOff else {
            throw reader.invalid(
                reader.settings[least] == nil ? most : least,
                "min_dial_back_off is longer than max_dial_back_off")
        }
    }

    private func credentials() throws(ConfigurationError) -> AppConfiguration.Credentials {
        let (key, certificate) = (path("key"), path("certificate"))
        let groups = reader.settings.groups
        switch (groups[key] != nil, groups[certificate] != nil) {
        case (true, true):
            throw reader.invalid(
                certificate, "the app also has \"key\"; give only one of \"certificate\" and \"key\"")
        case (false, false):
            throw reader.missing(
                app, "has no credentials: give key: {file, id, team} or certificate: {file, password_env}")
        case (true, false):
            return .key(
                file: try requiredFile(key.appending("file")), id: try identifier(key.appending("id")),
                team: try identifier(key.appending("team")))
        case (false, true):
            return .certificate(
                file: try requiredFile(certificate.appending("file")),
                keyFile: try reader.readableFile(certificate.appending("key_file")),
                password: try password(certificate))
        }
    }

    /// Reads a key id or team id of Apple: ten capital letters or digits.
    private func identifier(_ path: SettingPath) throws(ConfigurationError) -> String {
        guard let text = try reader.text(path) else { throw reader.missing(path, "is missing") }
        guard text.utf8.allSatisfy({ $0.isLetterOrDigit && $0 < UInt8(ascii: "a") }), text.utf8.count == 10
        else {
            throw reader.invalid(path, "expected 10 capital letters or digits, found \"\(text.prefix(40))\"")
        }
        return text
    }

    private func requiredFile(_ path: SettingPath) throws(ConfigurationError) -> String {
        guard let file = try reader.readableFile(path) else { throw reader.missing(path, "is missing") }
        return file
    }

    private func password(_ certificate: SettingPath) throws(ConfigurationError) -> Password? {
        let (inEnvironment, inFile) = (
            certificate.appending("password_env"), certificate.appending("password_file")
        )
        let variable = try reader.text(inEnvironment)
        let file = try reader.file(inFile)
        if variable != nil, file != nil {
            throw reader.invalid(inFile, "the app also has \"password_env\"; give only one of the two keys")
        }
        guard reader.purpose == .coordinator else { return nil }
        if let variable {
            guard let value = reader.environment[variable] else {
                throw reader.invalid(inEnvironment, "there is no environment variable \(variable)")
            }
            return Password(value)
        }
        return try file.map { file throws(ConfigurationError) in try reader.secret(inFile, file: file) }
    }
}
