import EventLoop
import FarmLogging
import PushModel

/// A suppressed token as `pushfarm suppressed export` writes it and `import` reads it. The words are: token;
/// reason; the time since which the token is invalid, in Unix seconds; topic; environment. One space
/// separates two words.
///
/// The reader also accepts other white space between the words, a time in ISO 8601 or as a duration before now, and a
/// line in which the last words are missing. The word "-" stands for an unknown topic.
struct SuppressionLine: Equatable, Sendable {
    var token: [UInt8]
    var reason: SuppressionReason
    /// The time since which the token is invalid, in Unix seconds.
    var time: Int64
    var scope: SuppressionScope

    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    /// The values for words that a short line leaves out.
    struct Defaults: Sendable {
        var reason = SuppressionReason.operator
        var time: Int64
        var topic: String?
        var environment: String?
    }

    /// Whether a line is empty or a comment.
    static func isEmpty(_ text: Substring) -> Bool {
        let text = text.trimmed
        return text.isEmpty || text.first == "#"
    }

    init(token: [UInt8], reason: SuppressionReason, time: Int64, scope: SuppressionScope) {
        (self.token, self.reason, self.time, self.scope) = (token, reason, time, scope)
    }

    init(_ text: Substring, _ defaults: Defaults) throws(Fault) {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard let first = words.first, words.count <= 5 else {
            throw Fault(description: "expected at most five words: token, reason, time, topic, environment")
        }
        do { token = try DeviceToken.bytes(of: first) } catch { throw Fault(description: error.description) }
        reason = defaults.reason
        if words.count > 1 {
            guard let named = SuppressionReason(name: String(words[1])) else {
                let all = SuppressionReason.allCases.map(\.name).joined(separator: ", ")
                throw Fault(description: "unknown reason \(words[1].prefix(40)); use one of \(all)")
            }
            reason = named
        }
        time = defaults.time
        if words.count > 2 {
            guard let seconds = TimeText.since(words[2], now: defaults.time) else {
                throw Fault(
                    description:
                        "\(words[2].prefix(40)) is not a time: use Unix seconds, 2026-05-01T10:00:00Z, or 3d for three days ago"
                )
            }
            time = seconds
        }
        let topic = words.count > 3 ? (words[3] == "-" ? "" : String(words[3])) : defaults.topic
        let environment = words.count > 4 ? String(words[4]) : defaults.environment
        guard let topic else { throw Fault(description: "the line has no topic; give a topic with --topic") }
        guard let environment else {
            throw Fault(description: "the line has no environment; give an environment with --environment")
        }
        scope = SuppressionScope(environment: environment, topic: topic)
    }

    var tokenText: String { Hexadecimal.text(of: token) }

    var text: String {
        "\(tokenText) \(reason.name) \(time) \(scope.topic.isEmpty ? "-" : scope.topic) \(scope.environment)"
    }

    /// The row for a person, with the token first.
    var row: String {
        let space = String(repeating: " ", count: max(1, 24 - reason.name.utf8.count))
        return "\(tokenText)  \(reason.name)\(space)\(Timestamp(milliseconds: time * 1000))  "
            + "\(scope.topic.isEmpty ? "-" : scope.topic)  \(scope.environment)"
    }

    var json: JSONValue {
        .object([
            "token": .string(tokenText), "reason": .string(reason.name), "time": .number(time),
            "topic": .string(scope.topic), "environment": .string(scope.environment),
        ])
    }
}
