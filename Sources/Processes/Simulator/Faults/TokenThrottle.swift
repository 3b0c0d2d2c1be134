import PushModel

/// Counts the pushes to each token within a second.
struct TokenThrottle {
    private let limit: Int
    private var second: Int64 = 0
    private var counts: [UInt64: Int] = [:]

    init(pushesPerSecond limit: Int) {
        self.limit = limit
    }

    /// - Parameter now: milliseconds since 1970.
    mutating func exceeds(_ token: UnsafeRawBufferPointer, now: Int64) -> Bool {
        if now / 1000 != second {
            second = now / 1000
            counts.removeAll(keepingCapacity: true)
        }
        let hash = XXH64.hash(token, seed: 0)
        counts[hash, default: 0] += 1
        return counts[hash]! > limit
    }
}
