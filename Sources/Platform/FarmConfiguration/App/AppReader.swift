/// Reads one app out of the settings.
struct AppReader {
    let reader: SettingReader
    let app: SettingPath
    let name: String
    let purpose: Configuration.Purpose
    let environment: [String: String]

    func read() throws(ConfigurationError) -> AppConfiguration {
        try checkName()
        guard let topic = try reader.text(app.appending("topic")) else {
            throw reader.missing(
                app.appending("topic"), "is missing: the app's bundle id, as in com.example.\(name)")
        }
        guard Self.isTopic(topic) else {
            throw reader.invalid(
                app.appending("topic"),
                "expected a bundle id such as com.example.\(name), found \"\(topic.prefix(40))\"")
        }
        let kind = try reader.choice(app.appending("environment"), as: AppConfiguration.Environment.self)
        let credentials = try credentials()
        var result = AppConfiguration(
            name: name, topic: topic, gateway: (kind ?? .production).gateway, credentials: credentials)
        result.environment = kind ?? .production
        if let topics = try topics() { result.topics = topics }
        if let (gateway, isBinary) = try gateway() {
            result.gateway = gateway
            if isBinary { try readBinary(&result) }
        }
        if result.binary == nil { try refuseBinaryKeys() } else { try refuseHTTP2Keys() }
        result.proxy = try reader.value(app.appending("proxy")) { text, _ throws(InvalidValue) in
            try ProxyAddress(text)
        }
        result.caFile = try file(app.appending("ca_file"))
        try reader.read(app.appending("request_timeout"), upTo: 3600, into: &result.requestTimeout)
        try reader.read(app.appending("max_retry_after"), upTo: 86_400, into: &result.maxRetryAfter)
        // An inbox entry is one Redis string, at most 512 MiB.
        try reader.read(app.appending("max_job_bytes"), in: 1024...512 << 20, into: &result.maxJobBytes)
        try readLimits(&result)
        try readUse(&result)
        return result
    }

    private func readLimits(_ result: inout AppConfiguration) throws(ConfigurationError) {
        try reader.read(app.appending("max_tokens"), in: 1...1_000_000, into: &result.maxTokens)
        try reader.read(app.appending("max_backlog"), in: 1...1_000_000_000, into: &result.maxBacklog)
        try reader.read(app.appending("max_inbox"), in: 1...1_000_000_000, into: &result.maxInbox)
        try reader.read(app.appending("weight"), in: 1...100, into: &result.weight)
        try reader.read(app.appending("bulk_floor"), in: 0...90, into: &result.bulkFloor)
        let suppression = app.appending("suppression")
        if let days = try reader.number(suppression.appending("days"), in: 1...366, unit: 86_400_000) {
            result.suppression.days = days
        }
        try reader.read(
            suppression.appending("tokens"), in: 1000...100_000_000, into: &result.suppression.tokens)
        try reader.read(suppression.appending("hold_share"), in: 1...100, into: &result.suppression.holdShare)
        try reader.read(
            suppression.appending("pause_share"), in: 1...100, into: &result.suppression.pauseShare)
        let deadLetters = app.appending("dead_letters")
        if let days = try reader.number(deadLetters.appending("days"), in: 1...366, unit: 86_400_000) {
            result.deadLetters.days = days
        }
        try reader.read(
            deadLetters.appending("pushes"), in: 0...1_000_000_000, into: &result.deadLetters.pushes)
        try reader.read(
            deadLetters.appending("megabytes"), in: 0...1 << 20, into: &result.deadLetters.megabytes)
        let audit = app.appending("audit")
        if let hours = try reader.number(audit.appending("hours"), in: 1...8784, unit: 3_600_000) {
            result.audit.hours = hours
        }
        try reader.read(audit.appending("megabytes"), in: 0...1 << 20, into: &result.audit.megabytes)
        result.maxInboxBytes = try reader.number(app.appending("max_inbox_bytes"), in: 1024...1 << 50)
    }

    /// The word `any`, or topics separated by spaces or commas.
    private func topics() throws(ConfigurationError) -> AppConfiguration.Topics? {
        try reader.value(app.appending("topics")) { text, _ throws(InvalidValue) in
            if text == "any" { return .any }
            let topics = text.split { $0 == " " || $0 == "," }.map(String.init)
            guard topics.count <= Self.mostTopics else {
                throw InvalidValue("has \(topics.count) topics; use any for more than \(Self.mostTopics)")
            }
            for topic in topics where topic == "any" || !Self.isTopic(topic) {
                throw InvalidValue(
                    "expected any, or topics such as com.example.demo, found \"\(topic.prefix(40))\"")
            }
            return .these(topics)
        }
    }

    private static let mostTopics = 100

    private static func isTopic(_ text: String) -> Bool { isName(text, upTo: 255) }

    private static func isName(_ text: String, upTo length: Int) -> Bool {
        (1...length).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    private func checkName() throws(ConfigurationError) {
        guard Self.isName(name, upTo: 64) else {
            throw reader.invalid(app, "an app's name is 1 to 64 of A-Z a-z 0-9 _ . -")
        }
    }

    private func gateway() throws(ConfigurationError) -> (HostPort, isBinary: Bool)? {
        try reader.value(app.appending("gateway")) { text, _ throws(InvalidValue) in
            let wanted = "https://host:port, or tls://host:port for the binary protocol"
            guard let parts = LocatorText(text) else { throw InvalidValue("expected \(wanted)") }
            switch parts.scheme {
            case "https": return (try Self.place(parts, defaultPort: 443), false)
            case "tls": return (try Self.place(parts, defaultPort: 2195), true)
            case "http":
                throw InvalidValue("plain http is refused: a gateway is reached over TLS; use https://")
            default: throw InvalidValue("expected \(wanted), found \(parts.scheme)://")
            }
        }
    }

    static func place(_ parts: LocatorText, defaultPort: UInt16) throws(InvalidValue) -> HostPort {
        guard parts.user == nil, parts.password == nil, parts.query == nil,
            parts.path.isEmpty || parts.path == "/",
            let place = HostPort(parts.authority, defaultPort: defaultPort)
        else { throw InvalidValue("expected \(parts.scheme)://host:port, without user, path or options") }
        return place
    }

    private func credentials() throws(ConfigurationError) -> AppConfiguration.Credentials {
        let (key, certificate) = (app.appending("key"), app.appending("certificate"))
        let groups = reader.settings.groups
        switch (groups[key] != nil, groups[certificate] != nil) {
        case (true, true):
            throw reader.invalid(certificate, "there is a key too; exactly one of them is wanted")
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
                keyFile: try file(certificate.appending("key_file")), password: try password(certificate))
        }
    }

    /// Apple's key and team ids: ten capital letters or digits.
    private func identifier(_ path: SettingPath) throws(ConfigurationError) -> String {
        guard let text = try reader.text(path) else { throw reader.missing(path, "is missing") }
        let isProper = text.utf8.allSatisfy {
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) || (0x30...0x39).contains($0)
        }
        guard isProper, text.utf8.count == 10 else {
            throw reader.invalid(path, "expected 10 capital letters or digits, found \"\(text.prefix(40))\"")
        }
        return text
    }

    private func requiredFile(_ path: SettingPath) throws(ConfigurationError) -> String {
        guard let file = try file(path) else { throw reader.missing(path, "is missing") }
        return file
    }

    private func file(_ path: SettingPath) throws(ConfigurationError) -> String? {
        guard let file = try reader.file(path) else { return nil }
        if purpose == .coordinator, let reason = reader.whyUnreadable(file) {
            throw reader.invalid(path, reason)
        }
        return file
    }

    private func password(_ certificate: SettingPath) throws(ConfigurationError) -> Password? {
        let (inEnvironment, inFile) = (
            certificate.appending("password_env"), certificate.appending("password_file")
        )
        let variable = try reader.text(inEnvironment)
        let file = try reader.file(inFile)
        if variable != nil, file != nil {
            throw reader.invalid(inFile, "there is a password_env too; one of them is enough")
        }
        guard purpose == .coordinator else { return nil }
        if let variable {
            guard let value = environment[variable] else {
                throw reader.invalid(inEnvironment, "the environment has no variable \(variable)")
            }
            return Password(value)
        }
        return try file.map { file throws(ConfigurationError) in
            try reader.secret(inFile, file: file)
        }
    }
}
