package import RedisProtocol

/// Reads which periods the campaigns of each category cap: category → names of periods, separated by spaces.
package struct ReadCapPeriods: Request {
    package init() {}

    package var words: [any CommandArgument] { ["HGETALL", AppKey(\.capPeriods)] }

    package static func read(_ value: RESPValue) throws(StoreError) -> [String: String] {
        guard value.array != nil else { throw .unexpectedReply("\(Self.self)") }
        return Dictionary(
            value.pairs.map { ($0.name.text ?? "", $0.value.text ?? "") },
            uniquingKeysWith: { first, _ in first })
    }
}

/// Stores which periods the campaigns of a category cap.
package struct StoreCapPeriods: Request {
    package typealias Reply = Int

    package let words: [any CommandArgument]

    package init(_ category: String, periods: String) {
        words = ["HSET", AppKey(\.capPeriods), category, periods]
    }
}
