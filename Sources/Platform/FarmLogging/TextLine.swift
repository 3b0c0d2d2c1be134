import Logging

/// Formats a log line for people: time, level and label in columns, then the message and `key=value` pairs.
struct TextLine {
    let colours: Bool

    func line(
        _ time: Timestamp, _ level: Logger.Level, _ label: String, _ message: String,
        _ fields: [(key: String, value: Logger.Metadata.Value)]
    ) -> String {
        let name = painted(padded(level.rawValue, to: 8), colour(of: level))
        var text = "\(painted(time.description, "2")) \(name) \(padded(label, to: 12)) "
        append(message, quoted: false, to: &text)
        for (key, value) in fields {
            text += " " + painted(key + "=", "2")
            let value = value.description
            append(value, quoted: needsQuotes(value), to: &text)
        }
        return text + "\n"
    }

    private func colour(of level: Logger.Level) -> String {
        switch level {
        case .trace, .debug: "2"
        case .info: "32"
        case .notice: "36"
        case .warning: "33"
        case .error, .critical: "31"
        }
    }

    private func painted(_ text: String, _ colour: String) -> String {
        colours ? "\u{1B}[\(colour)m\(text)\u{1B}[0m" : text
    }

    private func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private func needsQuotes(_ text: String) -> Bool {
        text.isEmpty || text.utf8.contains { $0 == 0x20 || $0 == 0x22 || $0 == 0x3D }
    }

    /// Escapes control characters, so that text from outside cannot forge a log line or control the terminal.
    private func append(_ value: String, quoted: Bool, to text: inout String) {
        if quoted { text += "\"" }
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\"" where quoted: text += "\\\""
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}":
                text += "\\u{" + String(scalar.value, radix: 16) + "}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        if quoted { text += "\"" }
    }
}
