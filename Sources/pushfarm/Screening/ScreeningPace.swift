/// Decides when the next job may be submitted, so that the rate of pushes stays under a limit. Owns no clock.
struct ScreeningPace {
    private let rate: Int
    private var due: ContinuousClock.Instant?
    /// If a submission is late, later submissions may exceed the rate to make up for at most this much of the lost
    /// time.
    private static let slack = Duration.milliseconds(200)

    init(rate: Int) { self.rate = rate }

    /// The time until the next job may be submitted, or zero when it may be submitted now.
    func pause(at now: ContinuousClock.Instant) -> Duration {
        due.map { max(.zero, $0 - now) } ?? .zero
    }

    /// Records that `count` pushes were submitted.
    mutating func sent(_ count: Int, at now: ContinuousClock.Instant) {
        due = max(due ?? now, now - Self.slack) + .seconds(1) * count / rate
    }

    /// The number of pushes per job: about as many as the rate allows in a quarter of a second.
    static func chunk(rate: Int, limit: Int) -> Int { min(max(rate / 4, 10), 500, limit) }

    /// The most open pushes. The limit is so high that it slows the screening only if the farm sends much
    /// more slowly than the rate.
    static func ahead(rate: Int) -> Int { min(max(rate * 10, 1000), 20_000) }
}
