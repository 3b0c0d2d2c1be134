import Logging
import PushModel

/// Formats a log line for collectors: one flat JSON object with fixed keys and the metadata. A metadata key that equals a
/// fixed key gets a trailing `_`.
enum JSONLine {
    private static let fixed: Set<String> = ["at", "level", "label", "message"]

    static func line(
        _ time: Timestamp, _ level: Logger.Level, _ label: String, _ message: String,
        _ fields: [(key: String, value: Logger.Metadata.Value)]
    ) -> String {
        JSONText.object { text in
            text.member("at", time.description)
            text.member("level", level.rawValue)
            text.member("label", label)
            text.member("message", message)
            for (key, value) in fields {
                text.key(fixed.contains(key) ? key + "_" : key)
                append(value, to: &text)
            }
        } + "\n"
    }

    private static func append(_ value: Logger.Metadata.Value, to text: inout JSONText) {
        switch value {
        case .string(let string): text.value(string)
        case .stringConvertible(let value): append(convertible: value, to: &text)
        case .array(let values):
            text.array { text in
                for value in values { append(value, to: &text) }
            }
        case .dictionary(let fields):
            text.object { text in
                for (key, value) in fields.sorted(by: { $0.key < $1.key }) {
                    text.key(key)
                    append(value, to: &text)
                }
            }
        }
    }

    private static func append(
        convertible value: any CustomStringConvertible & Sendable, to text: inout JSONText
    ) {
        switch value {
        case let value as any FixedWidthInteger: text.value(value)
        case let value as Double where value.isFinite: text.value(value)
        case let value as Bool: text.value(value)
        default: text.value(value.description)
        }
    }
}
