/// How often connections may be made to one gateway: gateways take clients that reconnect rapidly for an attack.
package struct DialRate: Hashable, Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// Dials at once, and in the long run the time between two.
    private let burst: Int
    private let interval: Duration
    /// When all of the burst will be there again.
    private var fullAt: Instant?

    /// - Parameters:
    ///   - connections: that may be open at a time, all of which may be dialled at once.
    ///   - life: the shortest time that a connection is expected to live.
    package init(connections: Int, life: Duration) {
        burst = max(1, connections)
        interval = life / burst
    }

    /// Takes a dial, if there is one.
    ///
    /// - Returns: zero if it may be made, or else how long to wait before asking again.
    package mutating func take(at now: Instant) -> Duration {
        let start = max(fullAt ?? now, now)
        let wait = start - now - interval * (burst - 1)
        guard wait <= .zero else { return wait }
        fullAt = start + interval
        return .zero
    }
}
