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
