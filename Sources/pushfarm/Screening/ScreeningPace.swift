/// When the next job may go in, so that not more pushes go out than a number a second. Owns no clock.
struct ScreeningPace {
    private let rate: Int
    private var due: ContinuousClock.Instant?
    /// What a late look may catch up with.
    private static let slack = Duration.milliseconds(200)

    init(rate: Int) { self.rate = rate }

    /// Zero when one may go in now.
    func pause(at now: ContinuousClock.Instant) -> Duration {
        due.map { max(.zero, $0 - now) } ?? .zero
    }

    /// So many pushes went in.
    mutating func sent(_ count: Int, at now: ContinuousClock.Instant) {
        due = max(due ?? now, now - Self.slack) + .seconds(1) * count / rate
    }

    /// Pushes of a job: about what a quarter of a second takes.
    static func chunk(rate: Int, limit: Int) -> Int { min(max(rate / 4, 10), 500, limit) }

    /// Pushes that may be open at once: the rate is what limits, not the farm, unless it has trouble.
    static func ahead(rate: Int) -> Int { min(max(rate * 10, 1000), 20_000) }
}
