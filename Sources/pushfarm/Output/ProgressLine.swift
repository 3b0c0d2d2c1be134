import FarmLogging

/// One line on a terminal that is written over and over: how much is done, how fast, how long it still takes.
/// Writes nothing at all where there is no terminal.
struct ProgressLine {
    private let title: String
    private let total: Int
    private let descriptor: Int32
    private let isShown: Bool
    private let start: ContinuousClock.Instant
    private var window: [(at: ContinuousClock.Instant, done: Int)] = []
    private var isOpen = false

    /// Goes to standard error, so that standard output stays clean.
    init(_ title: String, total: Int, now: ContinuousClock.Instant = .now, quiet: Bool = false) {
        self.init(
            title, total: total, now: now, descriptor: Terminal.standardError,
            isShown: !quiet && Terminal.isTerminal(Terminal.standardError))
    }

    init(_ title: String, total: Int, now: ContinuousClock.Instant, descriptor: Int32, isShown: Bool) {
        self.title = title
        self.total = total
        self.descriptor = descriptor
        self.isShown = isShown
        start = now
    }

    /// Shows that `done` of the total are done. Call a few times a second.
    mutating func update(_ done: Int, note: String = "", now: ContinuousClock.Instant = .now) {
        guard isShown else { return }
        let width = (Terminal.columns(of: descriptor) ?? 80) - 1
        Terminal.write(
            "\r" + PlainText.cut(line(done, note: note, now: now), to: width) + "\u{1B}[K", to: descriptor)
        isOpen = true
    }

    /// Takes the line away.
    mutating func finish() {
        guard isOpen else { return }
        Terminal.write("\r\u{1B}[K", to: descriptor)
        isOpen = false
    }

    /// `delivering  41 %  410,000 of 1,000,000  52,300/s  11 s left`. The rate is that of the last 5 seconds.
    mutating func line(_ done: Int, note: String, now: ContinuousClock.Instant) -> String {
        window.append((now, done))
        while window.count > 2, window[0].at < now - .seconds(5) { window.removeFirst() }
        let base = window.count > 1 ? window[0] : (at: start, done: 0)
        let rate = Figures.rate(done - base.done, in: now - base.at)
        let share = total > 0 ? min(100, done * 100 / total) : 100
        var line = "\(title)  \(share) %  \(Figures.grouped(done)) of \(Figures.grouped(total))"
        if rate > 0 {
            line += "  \(Figures.grouped(rate))/s"
            if done < total { line += "  \(Figures.time(.seconds((total - done + rate - 1) / rate))) left" }
        }
        return note.isEmpty ? line : line + "  " + note
    }
}
