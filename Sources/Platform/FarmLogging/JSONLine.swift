import Logging

/// A log line for collectors: one flat JSON object. Metadata keys stand beside the fixed ones; a metadata key that
/// is called like a fixed one gets a `_` behind it.
enum JSONLine {
    private static let fixed: Set<String> = ["at", "level", "label", "message"]

    static func line(
        _ time: Timestamp, _ level: Logger.Level, _ label: String, _ message: String,
        _ fields: [(key: String, value: Logger.Metadata.Value)]
    ) -> String {
        var text = "{\"at\":\"\(time)\",\"level\":\"\(level.rawValue)\",\"label\":"
        append(label, to: &text)
        text += ",\"message\":"
        append(message, to: &text)
        for (key, value) in fields {
            text += ","
            append(fixed.contains(key) ? key + "_" : key, to: &text)
            text += ":"
            append(value, to: &text)
        }
        text += "}\n"
        return text
    }

    private static func append(_ value: Logger.Metadata.Value, to text: inout String) {
        switch value {
        case .string(let string): append(string, to: &text)
        case .stringConvertible(let value): append(convertible: value, to: &text)
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                append(value, to: &text)
            }
            text += "]"
        case .dictionary(let fields):
            text += "{"
            for (index, (key, value)) in fields.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { text += "," }
                append(key, to: &text)
                text += ":"
                append(value, to: &text)
            }
            text += "}"
        }
    }

    private static func append(
        convertible value: any CustomStringConvertible & Sendable, to text: inout String
    ) {
        switch value {
        case let value as any FixedWidthInteger: text += value.description
        case let value as Double where value.isFinite: text += value.description
        case let value as Bool: text += value ? "true" : "false"
        default: append(value.description, to: &text)
        }
    }

    /// Appends a JSON string (RFC 8259, section 7).
    static func append(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            // Those from 7F on JSON would allow, and a terminal obey.
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}":
                let hex = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
