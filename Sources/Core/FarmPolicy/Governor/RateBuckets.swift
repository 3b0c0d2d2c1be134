/// A point in time on a monotonic clock.
package typealias Instant = ContinuousClock.Instant

/// Limits the pushes per second, and spreads them evenly. After a time without pushes, the pushes of a twentieth of a
/// second may be sent at once, but at least one push.
package struct TokenBucket: Hashable, Sendable {
    private static let burstSeconds = 0.05

    /// Tokens per second, more than 0.
    package private(set) var rate: Double
    private var tokens: Double
    private var filledAt: Instant

    package init(rate: Double, at now: Instant) {
        precondition(rate > 0, "a rate of \(rate)")
        self.rate = rate
        tokens = max(1, rate * Self.burstSeconds)
        filledAt = now
    }

    /// The largest number of tokens that can be taken at once.
    package var burst: Double { max(1, rate * Self.burstSeconds) }

    /// Changes the rate. Available tokens are kept, but not more than the new ``burst``.
    package mutating func change(rate: Double, at now: Instant) {
        guard rate != self.rate else { return }
        precondition(rate > 0, "a rate of \(rate)")
        fill(at: now)
        self.rate = rate
        tokens = min(tokens, burst)
    }

    /// Returns the number of whole tokens that are available.
    package mutating func available(at now: Instant) -> Int {
        fill(at: now)
        return max(0, Int(clamping: tokens))
    }

    /// Takes available tokens.
    package mutating func take(_ count: Int) { tokens -= Double(count) }

    /// The time until half a burst is available, but at least one token. A wait for single tokens would need too many
    /// timer events.
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

/// Limits the bits per second that are sent to a gateway. The size of a push is known only after the push is sent. So
/// the bucket first charges the recent mean size for each push, and corrects the charge after the bytes were measured.
package struct BandwidthBucket: Hashable, Sendable {
    private static let burstSeconds = 0.05
    /// The assumed size of a push in bytes before the first measurement.
    private static let firstGuess = 512.0

    private var bytesPerSecond: Double
    /// The available bytes; below 0 when more than allowed was sent.
    private var balance: Double
    private var filledAt: Instant
    private var bytesPerPush = Self.firstGuess
    /// Whether ``bytesPerPush`` was measured from sent pushes.
    private var isMeasured = false
    /// The number of pushes taken since bytes were last measured.
    private var pushes = 0
    private var charged = 0.0
    /// The bytes by which earlier charges were too high. These bytes are subtracted when later charges are too low.
    private var excess = 0.0

    package init(bitsPerSecond: Double, at now: Instant) {
        precondition(bitsPerSecond > 0, "a bandwidth of \(bitsPerSecond)")
        bytesPerSecond = bitsPerSecond / 8
        balance = bitsPerSecond / 8 * Self.burstSeconds
        filledAt = now
    }

    package mutating func change(bitsPerSecond: Double, at now: Instant) {
        fill(at: now)
        bytesPerSecond = bitsPerSecond / 8
        balance = min(balance, burst)
    }

    private var burst: Double { bytesPerSecond * Self.burstSeconds }

    /// Returns how many pushes may be sent now. If the balance is above 0, at least one push may be sent, whatever its
    /// size. Before the first measurement, only one push may be sent at a time.
    package mutating func available(at now: Instant) -> Int {
        fill(at: now)
        guard balance > 0 else { return 0 }
        return isMeasured ? max(1, Int(clamping: min(balance / bytesPerPush, 1e9))) : 1
    }

    /// Charges a number of pushes.
    package mutating func take(_ count: Int) {
        pushes += count
        charged += Double(count) * bytesPerPush
        balance -= Double(count) * bytesPerPush
    }

    /// Corrects the charge by the number of bytes sent since the last call.
    package mutating func measured(bytes: Int) {
        let owed = Double(bytes) - charged - excess
        balance -= max(0, owed)
        // If fewer bytes were sent than charged, the remaining bytes are usually sent later, so keep the difference as
        // excess. But a stalled connection may never send them, so limit the excess to one burst.
        excess = min(max(0, -owed), burst)
        if pushes > 0, bytes > 0 {
            let mean = Double(bytes) / Double(pushes)
            let before = isMeasured ? bytesPerPush : mean
            bytesPerPush = min(max(0.5 * before + 0.5 * mean, 32), 1_000_000)
            (isMeasured, pushes) = (true, 0)
        }
        charged = 0
    }

    /// The time until the balance is half a burst.
    package var wait: Duration {
        let wanted = burst / 2
        return balance >= wanted ? .zero : Duration(clampingSeconds: (wanted - balance) / bytesPerSecond)
    }

    /// The allowed number of pushes per second at the recent mean size of a push.
    package var rate: Double { bytesPerSecond / bytesPerPush }

    private mutating func fill(at now: Instant) {
        guard now > filledAt else { return }
        balance = min(burst, balance + bytesPerSecond * ((now - filledAt) / .seconds(1)))
        filledAt = now
    }
}
