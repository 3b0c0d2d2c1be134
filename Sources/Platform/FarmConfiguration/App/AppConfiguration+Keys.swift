extension AppConfiguration {
    /// All keys of an app, in the order of the sample file. The keys of a binary gateway are in ``BinaryGateway/keys``.
    static var allKeys: [ConfigurationKey<AppConfiguration>] { credentialKeys + keys + http2Keys + useKeys }

    private static var credentialKeys: [ConfigurationKey<AppConfiguration>] {
        [
            "topic", "environment", "gateway", "key.file", "key.id", "key.team", "certificate.file",
            "certificate.key_file", "certificate.password_env", "certificate.password_file", "connections",
            "min_conns", "max_conns",
        ].map { ConfigurationKey($0) }
    }

    static var keys: [ConfigurationKey<AppConfiguration>] {
        [
            .init("topics", \.topics, .parsed(Topics.init), isList: true),
            .init("proxy", \.proxy, .parsed(ProxyAddress.init)),
            .init("ca_file", \.caFile, .readableFile),
            .init("registry", \.registry, .redis),
            .init("request_timeout", \.requestTimeout, .duration(upTo: 3600)),
            .init("max_retry_after", \.maxRetryAfter, .duration(upTo: 86_400)),
            // An inbox entry is one Redis string, and Redis allows at most 512 MiB in a string.
            .init("max_job_bytes", \.maxJobBytes, .number(1024...512 << 20)),
            .init("max_tokens", \.maxTokens, .number(1...1_000_000)),
            .init("suppression.days", \.suppression.days, .count(1...366, of: .days)),
            .init("suppression.tokens", \.suppression.tokens, .number(1000...100_000_000)),
            .init("suppression.hold_share", \.suppression.holdShare, .number(1...100)),
            .init("suppression.pause_share", \.suppression.pauseShare, .number(1...100)),
            .init("dead_letters.pushes", \.deadLetters.pushes, .number(0...1_000_000_000)),
            .init("dead_letters.megabytes", \.deadLetters.megabytes, .number(0...1 << 20)),
            .init("dead_letters.days", \.deadLetters.days, .count(1...366, of: .days)),
            .init("audit.hours", \.audit.hours, .count(1...8784, of: .hours)),
            .init("audit.megabytes", \.audit.megabytes, .number(0...1 << 20)),
            .init("max_backlog", \.maxBacklog, .number(1...1_000_000_000)),
            .init("max_inbox", \.maxInbox, .number(1...1_000_000_000)),
            .init("max_inbox_bytes", \.maxInboxBytes, .number(1024...1 << 50)),
            .init("weight", \.weight, .number(1...100)),
            .init("bulk_floor", \.bulkFloor, .number(0...90)),
            .init("background_budget", \.backgroundBudget, .parsed(BackgroundBudget.init)),
        ]
    }

    /// The keys of a gateway that uses HTTP/2.
    static var http2Keys: [ConfigurationKey<AppConfiguration>] {
        [
            .init("max_concurrent_streams", \.use.maxStreams, .number(1...2000)),
            .init("keep_alive", \.use.keepAlive, .keepAlive),
        ]
    }

    static var useKeys: [ConfigurationKey<AppConfiguration>] {
        let shortestPoll = (Duration.milliseconds(20), "expected at least 0.02 seconds")
        return [
            .init("max_rate", \.use.maxRate, .decimal(0.001...10_000_000, "pushes a second")),
            .init("max_bandwidth", \.use.maxBandwidth, .bandwidth),
            .init("scale", \.use.scale, .parsed(GatewayUse.Scale.init)),
            .init("min_sustain", \.use.minSustain, .duration(upTo: 3600)),
            .init("poll_interval", \.use.pollInterval, .duration(upTo: 60, least: shortestPoll)),
            .init("settle_period", \.use.settlePeriod, .duration(upTo: 3600)),
            .init("dial_timeout", \.use.dialTimeout, .duration(upTo: 600)),
            .init("min_dial_back_off", \.use.minDialBackOff, .duration(upTo: 3600)),
            .init("max_dial_back_off", \.use.maxDialBackOff, .duration(upTo: 3600)),
            .init("dial_back_off_jitter", \.use.dialBackOffJitter, .jitter),
            .init("budget.max_rate", \.budget.maxRate, .decimal(0.001...10_000_000, "pushes a second")),
            .init("budget.max_bandwidth", \.budget.maxBandwidth, .bandwidth),
            .init("budget.max_conns", \.budget.maxConnections, .number(1...4096)),
        ]
    }
}

extension BinaryGateway {
    static var keys: [ConfigurationKey<BinaryGateway>] {
        [
            .init("binary.command", \.command, .command),
            // A worker that exits waits at most 20 s for the outcomes of its pushes, so the quiet time must be shorter than 20 s.
            .init("binary.quiet_time", \.quietTime, .duration(upTo: 15)),
            .init("binary.sentinel", \.endsWithSentinel, .flag),
            .init("binary.key_updates", \.asksIfRead, .flag),
            .init("binary.window", \.window, .number(1...1_000_000)),
            .init("binary.max_dials", \.maxDials, .number(1...60_000)),
            .init("feedback", \.feedback, .parsed(HostPort.init(feedback:))),
            .init("feedback_interval", \.feedbackInterval, .duration(upTo: 30 * 86_400)),
        ]
    }
}

extension ValueType<RedisLocation> {
    /// The URL of a Redis. A relative socket path is relative to the folder of the file.
    fileprivate static var redis: Self {
        ValueType { reader, path throws(ConfigurationError) in
            try reader.value(path) { text, folder throws(InvalidValue) in
                try RedisLocation(text, relativeTo: folder)
            }
        }
    }
}

extension ValueType<UInt8> {
    fileprivate static var command: Self {
        ValueType { reader, path throws(ConfigurationError) in
            try ValueType<Int>.number(0...2).read(reader, path).map { UInt8($0) }
        }
    }
}

extension ValueType<Duration?> {
    /// A keep-alive time; 0 turns probes off.
    fileprivate static var keepAlive: Self {
        ValueType { reader, path throws(ConfigurationError) in
            if try reader.text(path) == "0" { return .some(nil) }
            let reason =
                "expected at least 10 seconds, or 0 for never: gateways end connections that ask too often"
            let type = ValueType<Duration>.duration(upTo: 7 * 86_400, least: (.seconds(10), reason))
            guard let time = try type.read(reader, path) else { return nil }
            return .some(time)
        }
    }
}

extension AppConfiguration.Topics {
    private static let mostTopics = 100

    /// Reads the word `any`, or topics separated by spaces or commas.
    fileprivate init(_ text: String) throws(InvalidValue) {
        if text == "any" {
            self = .any
            return
        }
        let topics = text.split { $0 == " " || $0 == "," }.map(String.init)
        guard topics.count <= Self.mostTopics else {
            throw InvalidValue(
                "has \(topics.count) topics; the limit is \(Self.mostTopics), and \"any\" allows all topics")
        }
        for topic in topics where topic == "any" || !AppReader.isTopic(topic) {
            throw InvalidValue(
                "expected \"any\", or topics such as com.example.demo, found \"\(topic.prefix(40))\"")
        }
        self = .these(topics)
    }
}

extension GatewayUse.Scale {
    fileprivate init(_ text: String) throws(InvalidValue) {
        let words = text.split(separator: " ")
        switch (words.first, words.dropFirst().first, words.count) {
        case ("automatic", _, 1):
            self = .automatic
            return
        case ("constant", _, 1):
            self = .constant
            return
        case ("incremental", let step, ...2):
            if let step = step.map({ Int(foreign: $0) }) ?? 1, (1...64).contains(step) {
                self = .incremental(step)
                return
            }
        case ("exponential", let factor, ...2):
            if let factor = factor.map({ plainDecimal($0) }) ?? 2, factor > 1, factor <= 64 {
                self = .exponential(factor)
                return
            }
        default: break
        }
        throw InvalidValue(
            "expected automatic, incremental N, exponential F with F above 1, or constant, found \"\(text.prefix(40))\""
        )
    }
}

extension HostPort {
    /// Reads the URL of a feedback service.
    fileprivate init(feedback text: String) throws(InvalidValue) {
        guard let parts = LocatorText(text), parts.scheme == "tls" else {
            throw InvalidValue("expected tls://host:port")
        }
        try self.init(parts, defaultPort: 2196)
    }

    init(_ parts: LocatorText, defaultPort: UInt16) throws(InvalidValue) {
        guard parts.user == nil, parts.password == nil, parts.query == nil,
            parts.path.isEmpty || parts.path == "/",
            let hostPort = HostPort(parts.authority, defaultPort: defaultPort)
        else {
            throw InvalidValue("expected only \(parts.scheme)://host:port, without user, path or options")
        }
        self = hostPort
    }
}
