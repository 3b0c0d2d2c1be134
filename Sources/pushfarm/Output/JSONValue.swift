import PushModel

/// A JSON document that keeps the order of its fields.
enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case number(Int64)
    case decimal(Double)
    case string(String)
    case array([JSONValue])
    case object([Field])
    /// Valid JSON that is written unchanged.
    case verbatim(String)

    struct Field: Sendable, Equatable {
        let name: String
        let value: JSONValue
    }

    static func object(_ fields: KeyValuePairs<String, JSONValue>) -> JSONValue {
        .object(self.fields(fields))
    }

    static func fields(_ fields: KeyValuePairs<String, JSONValue>) -> [Field] {
        fields.map { Field(name: $0.key, value: $0.value) }
    }

    /// The object with more fields at its end.
    func adding(_ more: KeyValuePairs<String, JSONValue>) -> JSONValue {
        guard case .object(let fields) = self else { return self }
        return .object(fields + Self.fields(more))
    }

    /// An object of numbers by name, sorted by name.
    static func counts(_ counts: [String: Int]) -> JSONValue {
        .object(counts.sorted { $0.key < $1.key }.map { Field(name: $0.key, value: .number($0.value)) })
    }

    static func number(_ value: Int) -> JSONValue { .number(Int64(value)) }

    static func whole(_ value: Int?) -> JSONValue { value.map { .number($0) } ?? .null }

    static func whole(_ value: Int64?) -> JSONValue { value.map { .number($0) } ?? .null }

    static func strings(_ values: [String]) -> JSONValue { .array(values.map(JSONValue.string)) }

    static func text(_ value: String?) -> JSONValue { value.map(JSONValue.string) ?? .null }
}

extension JSONValue: CustomStringConvertible {
    /// The document on one line.
    var description: String {
        var text = JSONText()
        append(to: &text)
        return text.string
    }

    func append(to text: inout JSONText) {
        switch self {
        case .null: text.null()
        case .bool(let value): text.value(value)
        case .number(let value): text.value(value)
        case .decimal(let value): text.value(value)
        case .string(let value): text.value(value)
        case .verbatim(let json): text.value(json: json.utf8)
        case .array(let values):
            text.array { text in
                for value in values { value.append(to: &text) }
            }
        case .object(let fields):
            text.object { text in
                for field in fields {
                    text.key(field.name)
                    field.value.append(to: &text)
                }
            }
        }
    }
}
