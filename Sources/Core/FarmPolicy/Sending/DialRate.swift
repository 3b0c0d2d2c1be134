/// How often connections may be made to one gateway: gateways take clients that reconnect rapidly for an attack.
package struct DialRate: Hashable, Sendable {
    /// Dials at once, and in the long run the time between two.
    private var burst: Int
    private var interval: Duration
    /// When all of the burst will be there again.
    private var fullAt: Instant?
    /// Dials in any minute; nil: any number.
    private var perMinute: Int?
    /// The dials of the last minute, the oldest at `oldest`.
    private var recent: [Instant] = []
    private var oldest = 0
    private static let minute = Duration.seconds(60)

    /// - Parameters:
    ///   - connections: that may be open at a time, all of which may be dialled at once.
    ///   - life: the shortest time that a connection is expected to live.
    ///   - perMinute: dials in any minute; nil: any number.
    package init(connections: Int, life: Duration, perMinute: Int? = nil) {
        burst = max(1, connections)
        interval = life / burst
        self.perMinute = perMinute.map { max(1, $0) }
    }

    /// From now on these limits apply. All connections may be dialled at once again, but the dials of the last minute count.
    package mutating func change(connections: Int, life: Duration, perMinute: Int? = nil) {
        let before = self
        self = DialRate(connections: connections, life: life, perMinute: perMinute)
        (recent, oldest) = (before.recent, before.oldest)
    }

    /// Takes a dial, if there is one.
    ///
    /// - Returns: zero if it may be made, or else how long to wait before asking again.
    package mutating func take(at now: Instant) -> Duration {
        let start = max(fullAt ?? now, now)
        let wait = max(start - now - interval * (burst - 1), waitForMinute(at: now))
        guard wait <= .zero else { return wait }
        fullAt = start + interval
        if perMinute != nil { recent.append(now) }
        return .zero
    }

    /// Half of a minute's dials may be made at once, the others one after the other: or a minute would begin with all of them, and
    /// for the rest of it a bad token would end connections that nothing replaces.
    private mutating func waitForMinute(at now: Instant) -> Duration {
        guard let perMinute else { return .zero }
        while oldest < recent.count, now - recent[oldest] >= Self.minute { oldest += 1 }
        if oldest > recent.count / 2 {
            recent.removeFirst(oldest)
            oldest = 0
        }
        let used = recent.count - oldest
        guard used < perMinute else { return recent[oldest + used - perMinute] + Self.minute - now }
        guard used * 2 >= perMinute, used > 0 else { return .zero }
        let interval = Self.minute * 2 / perMinute
        return recent[recent.count - 1] + interval - now
    }
}
