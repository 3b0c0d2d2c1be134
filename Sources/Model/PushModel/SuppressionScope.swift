/// Where a token is dead: a topic in one environment of an app. What is dead in one may live in the other.
package struct SuppressionScope: Hashable, Sendable {
    /// A word without spaces: `production`, `sandbox`, or a gateway's host and port.
    package let environment: String
    /// May be empty.
    package let topic: String

    package init(environment: String, topic: String) {
        (self.environment, self.topic) = (environment, topic)
    }

    /// As ``text`` has it; nil if there is no space.
    package init?(text: some StringProtocol) {
        guard let space = text.firstIndex(of: " ") else { return nil }
        environment = String(text[..<space])
        topic = String(text[text.index(after: space)...])
    }

    package var text: String { "\(environment) \(topic)" }

    /// Stands for the scope in records: the low 32 bits of the XXH64, seed 0, of its text.
    package var number: UInt32 { UInt32(truncatingIfNeeded: XXH64.hash(Array(text.utf8), seed: 0)) }
}
