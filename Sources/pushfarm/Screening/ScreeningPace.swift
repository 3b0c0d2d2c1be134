import FarmLogging

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

/// How far a screening is, on standard error: one line over and over on a terminal, else a line now and then.
struct ScreeningProgress {
    private var line: ProgressLine
    private let isPlain: Bool
    private var nextAt: ContinuousClock.Instant
    private static let pause = Duration.seconds(10)

    init(total: Int, quiet: Bool, now: ContinuousClock.Instant = .now) {
        line = ProgressLine("screening", total: total, now: now, quiet: quiet)
        isPlain = !quiet && !Terminal.isTerminal(Terminal.standardError)
        nextAt = now + Self.pause
    }

    mutating func update(_ done: Int, note: String, now: ContinuousClock.Instant = .now) {
        guard isPlain else { return line.update(done, note: note, now: now) }
        guard now >= nextAt else { return }
        nextAt = now + Self.pause
        Terminal.write(line.line(done, note: note, now: now) + "\n", to: Terminal.standardError)
    }

    mutating func finish() { line.finish() }
}
