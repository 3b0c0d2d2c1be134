import FarmLogging

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
