/// Reads how an app uses its gateway.
extension AppReader {
    func readUse(_ result: inout AppConfiguration) throws(ConfigurationError) {
        try readConnections(&result)
        var use = result.use
        if result.binary == nil {
            use.maxStreams = try reader.number(app.appending("max_concurrent_streams"), in: 1...2000)
            try readKeepAlive(&use)
        }
        use.maxRate = try reader.decimal(app.appending("max_rate"), in: 0.001...10_000_000, "pushes a second")
        use.maxBandwidth = try reader.value(app.appending("max_bandwidth")) { text, _ throws(InvalidValue) in
            try Self.bandwidth(text)
        }
        if let scale = try reader.value(
            app.appending("scale"), { text, _ throws(InvalidValue) in try Self.scale(text) })
        {
            use.scale = scale
        }
        try reader.read(app.appending("min_sustain"), upTo: 3600, into: &use.minSustain)
        if let time = try reader.duration(app.appending("poll_interval"), upTo: 60) {
            guard time >= .milliseconds(20) else {
                throw reader.invalid(app.appending("poll_interval"), "expected at least 0.02 seconds")
            }
            use.pollInterval = time
        }
        try reader.read(app.appending("settle_period"), upTo: 3600, into: &use.settlePeriod)
        guard use.pollInterval <= use.minSustain else {
            throw reader.invalid(
                app.appending("poll_interval"),
                "is longer than min_sustain, which has to hold several of them")
        }
        // Binary gateways took rapid reconnecting for an attack.
        if result.binary != nil { use.maxDialBackOff = .seconds(180) }
        try readDialling(&use)
        result.use = use
        try readBudget(&result.budget)
    }

    private func readBudget(_ budget: inout GatewayBudget) throws(ConfigurationError) {
        let path = app.appending("budget")
        budget.maxRate = try reader.decimal(
            path.appending("max_rate"), in: 0.001...10_000_000, "pushes a second")
        budget.maxBandwidth = try reader.value(path.appending("max_bandwidth")) {
            text, _ throws(InvalidValue) in try Self.bandwidth(text)
        }
        budget.maxConnections = try reader.number(path.appending("max_conns"), in: 1...4096)
    }

    /// `connections: N` sets both the least and the greatest number.
    private func readConnections(_ result: inout AppConfiguration) throws(ConfigurationError) {
        let (all, least, most) = (
            app.appending("connections"), app.appending("min_conns"), app.appending("max_conns")
        )
        let range = 1...64
        let (count, min, max) = (
            try reader.number(all, in: range), try reader.number(least, in: range),
            try reader.number(most, in: range)
        )
        if count != nil, let other = min != nil ? least : max != nil ? most : nil {
            throw reader.invalid(
                all,
                "there is \(other.parts.last ?? "") too; connections is short for min_conns and max_conns")
        }
        result.connections = count ?? (result.binary == nil ? nil : max)
        result.use.minConnections = (result.binary == nil ? count : nil) ?? min ?? 1
        result.use.maxConnections = count ?? max ?? Swift.max(8, result.use.minConnections)
        guard result.use.minConnections <= result.use.maxConnections else {
            throw reader.invalid(
                least, "is \(result.use.minConnections), and max_conns is \(result.use.maxConnections)")
        }
    }

    /// 0: never.
    private func readKeepAlive(_ use: inout GatewayUse) throws(ConfigurationError) {
        let path = app.appending("keep_alive")
        if try reader.text(path) == "0" {
            use.keepAlive = nil
            return
        }
        guard let time = try reader.duration(path, upTo: 7 * 86_400) else { return }
        guard time >= .seconds(10) else {
            throw reader.invalid(
                path,
                "expected at least 10 seconds, or 0 for never: gateways end connections that ask too often")
        }
        use.keepAlive = time
    }

    private func readDialling(_ use: inout GatewayUse) throws(ConfigurationError) {
        let (least, most) = (app.appending("min_dial_back_off"), app.appending("max_dial_back_off"))
        try reader.read(app.appending("dial_timeout"), upTo: 600, into: &use.dialTimeout)
        let (first, longest) = (try reader.duration(least, upTo: 3600), try reader.duration(most, upTo: 3600))
        use.minDialBackOff = first ?? use.minDialBackOff
        use.maxDialBackOff = longest ?? max(use.maxDialBackOff, use.minDialBackOff)
        guard use.minDialBackOff <= use.maxDialBackOff else {
            throw reader.invalid(
                first == nil ? most : least, "min_dial_back_off is longer than max_dial_back_off")
        }
        let jitter = try reader.value(app.appending("dial_back_off_jitter")) { text, _ throws(InvalidValue) in
            let isPercent = text.hasSuffix("%")
            guard let number = Self.plainDecimal(isPercent ? text.dropLast() : text[...]),
                number <= (isPercent ? 100 : 1)
            else { throw InvalidValue("expected the random part of a pause, 0 to 1 or 0% to 100%") }
            return isPercent ? number / 100 : number
        }
        if let jitter { use.dialBackOffJitter = jitter }
    }

    func refuseHTTP2Keys() throws(ConfigurationError) {
        for key in ["max_concurrent_streams", "keep_alive"].map({ app.appending($0) })
        where try reader.text(key) != nil {
            throw reader.invalid(key, "belongs to HTTP/2, and the gateway is tls://host:port")
        }
    }

    private static func bandwidth(_ text: String) throws(InvalidValue) -> Double {
        let units: [Character: Double] = ["k": 1e3, "M": 1e6, "G": 1e9]
        let unit = text.last.flatMap { units[$0] }
        guard let number = plainDecimal(unit == nil ? text[...] : text.dropLast()),
            case let bits = number * (unit ?? 1), (1000...1e12).contains(bits)
        else {
            throw InvalidValue(
                "expected bits a second from 1k to 1000G, such as 500k, 10M or 1G, found \"\(text.prefix(40))\""
            )
        }
        return bits
    }

    private static func scale(_ text: String) throws(InvalidValue) -> GatewayUse.Scale {
        let words = text.split(separator: " ")
        switch (words.first, words.dropFirst().first, words.count) {
        case ("constant", _, 1): return .constant
        case ("incremental", let step, ...2):
            if let step = step.map({ Int(foreign: $0) }) ?? 1, (1...64).contains(step) {
                return .incremental(step)
            }
        case ("exponential", let factor, ...2):
            if let factor = factor.map({ plainDecimal($0) }) ?? 2, factor > 1, factor <= 64 {
                return .exponential(factor)
            }
        default: break
        }
        throw InvalidValue(
            "expected incremental N, exponential F with F above 1, or constant, found \"\(text.prefix(40))\"")
    }

    /// Digits with at most one point; unlike `Double(_:)`, no other notation.
    static func plainDecimal(_ text: Substring) -> Double? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }) else {
            return nil
        }
        return Double(text)
    }
}

extension SettingReader {
    /// A whole or decimal number.
    func decimal(
        _ path: SettingPath, in range: ClosedRange<Double>, _ what: String
    ) throws(ConfigurationError) -> Double? {
        guard let text = try text(path) else { return nil }
        guard let number = AppReader.plainDecimal(text[...]), range.contains(number) else {
            throw invalid(
                path,
                "expected \(what), \(range.lowerBound) to \(Int(clamping: range.upperBound)), found \"\(text.prefix(40))\""
            )
        }
        return number
    }
}

/// Reads the settings of a binary gateway.
extension AppReader {
    func readBinary(_ result: inout AppConfiguration) throws(ConfigurationError) {
        guard case .certificate = result.credentials else {
            throw reader.invalid(
                app.appending("key"),
                "a binary gateway knows apps by their certificate only; give certificate: {file}")
        }
        var binary = BinaryGateway()
        let group = app.appending("binary")
        if let command = try reader.number(group.appending("command"), in: 0...2) {
            binary.command = UInt8(command)
        }
        // A worker that ends has 20 s to learn the outcomes of its pushes.
        try reader.read(group.appending("quiet_time"), upTo: 15, into: &binary.quietTime)
        if let sentinel = try reader.choice(group.appending("sentinel"), as: Switch.self) {
            binary.endsWithSentinel = sentinel == .true
        }
        if let asks = try reader.choice(group.appending("key_updates"), as: Switch.self) {
            binary.asksIfRead = asks == .true
        }
        try reader.read(group.appending("window"), in: 1...1_000_000, into: &binary.window)
        try reader.read(group.appending("max_dials"), in: 1...60_000, into: &binary.maxDials)
        binary.feedback = try reader.value(app.appending("feedback")) { text, _ throws(InvalidValue) in
            guard let parts = LocatorText(text), parts.scheme == "tls" else {
                throw InvalidValue("expected tls://host:port")
            }
            return try Self.place(parts, defaultPort: 2196)
        }
        try reader.read(app.appending("feedback_interval"), upTo: 30 * 86_400, into: &binary.feedbackInterval)
        result.binary = binary
    }

    func refuseBinaryKeys() throws(ConfigurationError) {
        let group = ["command", "quiet_time", "sentinel", "key_updates", "window", "max_dials"].map {
            app.appending("binary").appending($0)
        }
        for key in group + ["feedback", "feedback_interval"].map({ app.appending($0) })
        where try reader.text(key) != nil {
            throw reader.invalid(
                key, "belongs to the binary protocol, and the gateway is none of tls://host:port")
        }
    }

    private enum Switch: String, CaseIterable {
        case `true`, `false`
    }
}
