/// Pushes a second, evenly: after a pause there is no more at once than the burst, which is a twentieth of a second's worth.
package struct TokenBucket: Hashable, Sendable {
    private static let burstSeconds = 0.05

    /// Tokens a second, more than 0.
    package private(set) var rate: Double
    private var tokens: Double
    private var filledAt: Instant

    package init(rate: Double, at now: Instant) {
        precondition(rate > 0, "a rate of \(rate)")
        self.rate = rate
        tokens = max(1, rate * Self.burstSeconds)
        filledAt = now
    }

    /// The most that can be taken at once.
    package var burst: Double { max(1, rate * Self.burstSeconds) }

    /// What has gathered stays, as far as the burst goes.
    package mutating func change(rate: Double, at now: Instant) {
        guard rate != self.rate else { return }
        precondition(rate > 0, "a rate of \(rate)")
        fill(at: now)
        self.rate = rate
        tokens = min(tokens, burst)
    }

    /// Whole tokens that are there now.
    package mutating func available(at now: Instant) -> Int {
        fill(at: now)
        return max(0, Int(clamping: tokens))
    }

    /// Takes tokens, of those that are there.
    package mutating func take(_ count: Int) { tokens -= Double(count) }

    /// How long until something can be taken: half a burst, so that few wake-ups are needed, but at least one token.
    package var wait: Duration {
        let wanted = max(1, (burst / 2).rounded(.down))
        return tokens >= wanted ? .zero : Duration(clampingSeconds: (wanted - tokens) / rate)
    }

    private mutating func fill(at now: Instant) {
        guard now > filledAt else { return }
        tokens = min(burst, tokens + rate * ((now - filledAt) / .seconds(1)))
        filledAt = now
    }
}
