/// The true time and the time of the Redis clock.
struct SimulatedClock {
    /// Microseconds since the start. This value never decreases.
    private(set) var now: Int64 = 0
    private(set) var skew: Int64 = 0

    private static let start: Int64 = 1_700_000_000_000_000
    /// The maximum difference between the Redis clock and the true time, in microseconds.
    private static let most: Int64 = 7_200_000_000

    /// The Redis time in microseconds since 1970.
    var redis: Int64 { Self.start + now + skew }
    var redisMilliseconds: Int64 { redis / 1000 }

    mutating func advance(_ microseconds: Int64) { now += microseconds }

    mutating func jump(_ microseconds: Int64) { skew = max(-Self.most, min(Self.most, skew + microseconds)) }
}
