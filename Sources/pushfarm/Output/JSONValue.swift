/// A JSON document that keeps its fields in the order in which they were written.
enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case number(Int64)
    case decimal(Double)
    case string(String)
    case array([JSONValue])
    case object([Field])
    /// JSON that is known to be valid, as it stands.
    case verbatim(String)

    struct Field: Sendable, Equatable {
        let name: String
        let value: JSONValue
    }

    static func object(_ fields: KeyValuePairs<String, JSONValue>) -> JSONValue {
        .object(fields.map { Field(name: $0.key, value: $0.value) })
    }

    static func number(_ value: Int) -> JSONValue { .number(Int64(value)) }

    static func whole(_ value: Int?) -> JSONValue { value.map { .number($0) } ?? .null }

    static func text(_ value: String?) -> JSONValue { value.map(JSONValue.string) ?? .null }
}

extension JSONValue: CustomStringConvertible {
    /// The document on one line.
    var description: String {
        var text = ""
        append(to: &text)
        return text
    }

    private func append(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .number(let value): text += String(value)
        case .decimal(let value): text += value.isFinite ? String(value) : "null"
        case .string(let value): Self.append(value, to: &text)
        case .verbatim(let json): text += json
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.append(to: &text)
            }
            text += "]"
        case .object(let fields):
            text += "{"
            for (index, field) in fields.enumerated() {
                if index > 0 { text += "," }
                Self.append(field.name, to: &text)
                text += ":"
                field.value.append(to: &text)
            }
            text += "}"
        }
    }

    /// Appends a JSON string (RFC 8259, section 7).
    private static func append(_ value: String, to text: inout String) {
        text += "\""
        for scalar in value.unicodeScalars {
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
