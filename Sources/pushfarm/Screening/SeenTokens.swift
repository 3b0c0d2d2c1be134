import PushModel

/// Which tokens came before, of the part of all tokens that is looked at.
///
/// A token is known by 128 bits of hash: two of a million are taken for one with a probability of 10⁻²⁷.
struct SeenTokens {
    private struct Key: Hashable {
        let low: UInt64
        let high: UInt64
    }

    private var keys: Set<Key> = []
    private let part: Int
    private let parts: Int

    init(part: Int, of parts: Int, expected: Int) {
        (self.part, self.parts) = (part, parts)
        keys.reserveCapacity(expected)
    }

    enum Answer: Equatable {
        case new
        case again
        /// Of another part.
        case foreign
    }

    mutating func take(_ token: [UInt8]) -> Answer {
        let low = XXH64.hash(token, seed: 0)
        guard Int(low % UInt64(parts)) == part else { return .foreign }
        return keys.insert(Key(low: low, high: XXH64.hash(token, seed: 1))).inserted ? .new : .again
    }
}
