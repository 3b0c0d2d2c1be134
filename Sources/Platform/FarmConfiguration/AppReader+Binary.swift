/// The settings that only an app with a binary gateway has.
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
        // A worker that ends has 20 s to learn what became of its pushes.
        if let time = try reader.duration(group.appending("quiet_time"), upTo: 15) { binary.quietTime = time }
        if let sentinel = try reader.choice(group.appending("sentinel"), as: Switch.self) {
            binary.endsWithSentinel = sentinel == .true
        }
        if let asks = try reader.choice(group.appending("key_updates"), as: Switch.self) {
            binary.asksIfRead = asks == .true
        }
        if let window = try reader.number(group.appending("window"), in: 1...1_000_000) {
            binary.window = window
        }
        if let dials = try reader.number(group.appending("max_dials"), in: 1...60_000) {
            binary.maxDials = dials
        }
        binary.feedback = try reader.value(app.appending("feedback")) { text, _ throws(InvalidValue) in
            guard let parts = LocatorText(text), parts.scheme == "tls" else {
                throw InvalidValue("expected tls://host:port")
            }
            return try Self.place(parts, defaultPort: 2196)
        }
        if let interval = try reader.duration(app.appending("feedback_interval"), upTo: 30 * 86_400) {
            binary.feedbackInterval = interval
        }
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
