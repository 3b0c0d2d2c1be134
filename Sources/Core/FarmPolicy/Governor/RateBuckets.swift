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

/// Bits a second on the way to a gateway: what a push takes is known when it has left, so it is charged with what pushes took
/// lately, and the difference afterwards.
package struct BandwidthBucket: Hashable, Sendable {
    private static let burstSeconds = 0.05
    /// The assumed size of the first pushes.
    private static let firstGuess = 512.0

    private var bytesPerSecond: Double
    /// Below 0: more has left than should have.
    private var balance: Double
    private var filledAt: Instant
    private var bytesPerPush = Self.firstGuess
    /// Some push has left, so that ``bytesPerPush`` was measured.
    private var isMeasured = false
    /// Sent since bytes left last.
    private var pushes = 0
    private var charged = 0.0
    /// What was charged too much before; it is set off against what is charged too little.
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

    /// Pushes that may leave now; one whenever nothing is owed, however large it is, and no more until one is measured.
    package mutating func available(at now: Instant) -> Int {
        fill(at: now)
        guard balance > 0 else { return 0 }
        return isMeasured ? max(1, Int(clamping: min(balance / bytesPerPush, 1e9))) : 1
    }

    /// So many were sent.
    package mutating func take(_ count: Int) {
        pushes += count
        charged += Double(count) * bytesPerPush
        balance -= Double(count) * bytesPerPush
    }

    /// So many bytes have left since the last call.
    package mutating func measured(bytes: Int) {
        let owed = Double(bytes) - charged - excess
        balance -= max(0, owed)
        // What has not left yet will, but what was charged for a stalled connection is no credit for ever.
        excess = min(max(0, -owed), burst)
        if pushes > 0, bytes > 0 {
            let mean = Double(bytes) / Double(pushes)
            let before = isMeasured ? bytesPerPush : mean
            bytesPerPush = min(max(0.5 * before + 0.5 * mean, 32), 1_000_000)
            (isMeasured, pushes) = (true, 0)
        }
        charged = 0
    }

    /// How long until something can be sent: what is owed is paid then, and half a burst has gathered.
    package var wait: Duration {
        let wanted = burst / 2
        return balance >= wanted ? .zero : Duration(clampingSeconds: (wanted - balance) / bytesPerSecond)
    }

    /// Pushes a second, as large as they were lately.
    package var rate: Double { bytesPerSecond / bytesPerPush }

    private mutating func fill(at now: Instant) {
        guard now > filledAt else { return }
        balance = min(burst, balance + bytesPerSecond * ((now - filledAt) / .seconds(1)))
        filledAt = now
    }
}
