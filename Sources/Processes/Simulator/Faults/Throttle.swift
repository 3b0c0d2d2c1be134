import PushModel

/// Limits the rate of pushes to all tokens together: a token bucket with the capacity of a tenth of a second.
struct OverallThrottle {
    private static let burstSeconds = 0.1
    private var allowance: Double?
    private var filledAt: Int64 = 0

    /// - Parameters:
    ///   - rate: the allowed pushes per second.
    ///   - now: the present time in milliseconds since 1970.
    mutating func exceeds(_ rate: Int, now: Int64) -> Bool {
        let most = max(1, Double(rate) * Self.burstSeconds)
        // A clock that was set back adds nothing to the bucket.
        let passed = Double(max(0, now - filledAt)) / 1000
        allowance = min(most, (allowance ?? most) + passed * Double(rate))
        filledAt = now
        guard let allowance, allowance >= 1 else { return true }
        self.allowance = allowance - 1
        return false
    }
}

/// Counts the pushes to each device token within a second.
struct TokenThrottle {
    private let limit: Int
    private var second: Int64 = 0
    private var counts: [UInt64: Int] = [:]

    init(pushesPerSecond limit: Int) {
        self.limit = limit
    }

    /// - Parameter now: the present time in milliseconds since 1970.
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
