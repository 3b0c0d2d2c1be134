/// Limits how often connections are opened to one gateway, because gateways treat rapid reconnects as an attack.
package struct DialRate: Hashable, Sendable {
    /// The number of dials that are allowed at once.
    private var burst: Int
    /// The time after which one more dial of the burst becomes available.
    private var interval: Duration
    /// When the full burst will be available again; nil before the first dial.
    private var fullAt: Instant?
    /// The maximum number of dials in any minute; nil means unlimited.
    private var perMinute: Int?
    /// The dials of the last minute; the oldest is at index `oldest`.
    private var recent: [Instant] = []
    private var oldest = 0
    private static let minute = Duration.seconds(60)

    /// - Parameters:
    ///   - connections: the number of connections that may be open at a time; all may be dialled at once.
    ///   - life: the shortest expected lifetime of a connection.
    ///   - perMinute: the maximum number of dials in any minute; nil means unlimited.
    package init(connections: Int, life: Duration, perMinute: Int? = nil) {
        burst = max(1, connections)
        interval = life / burst
        self.perMinute = perMinute.map { max(1, $0) }
    }

    /// Changes the limits. All connections may then be dialled at once again, but the dials of the last minute still count.
    package mutating func change(connections: Int, life: Duration, perMinute: Int? = nil) {
        let before = self
        self = DialRate(connections: connections, life: life, perMinute: perMinute)
        (recent, oldest) = (before.recent, before.oldest)
    }

    /// Uses one of the allowed dials if a dial is allowed now.
    ///
    /// - Returns: zero if the caller may dial now; otherwise the time to wait before the next call.
    package mutating func take(at now: Instant) -> Duration {
        let start = max(fullAt ?? now, now)
        let wait = max(start - now - interval * (burst - 1), waitForMinute(at: now))
        guard wait <= .zero else { return wait }
        fullAt = start + interval
        if perMinute != nil { recent.append(now) }
        return .zero
    }

    /// Allows half of a minute's dials at once and spreads the other half. Without the spread, the farm could use all dials at
    /// the start of a minute and could not replace connections that a bad token ends later in that minute.
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
