import FarmLogging

/// A line on standard error that later texts overwrite, if standard error is a terminal. Standard output is not
/// touched.
struct TerminalLine {
    let isShown: Bool
    private var isOpen = false

    init(quiet: Bool) { isShown = !quiet && Terminal.isTerminal(Terminal.standardError) }

    mutating func show(_ text: String) {
        guard isShown else { return }
        let width = (Terminal.columns(of: Terminal.standardError) ?? 80) - 1
        Terminal.write("\r" + PlainText.cut(text, to: width) + "\u{1B}[K", to: Terminal.standardError)
        isOpen = true
    }

    /// Removes the line.
    mutating func finish() {
        if isOpen { Terminal.write("\r\u{1B}[K", to: Terminal.standardError) }
        isOpen = false
    }
}

/// A line with the progress, the rate and the remaining time. On a terminal, the line is overwritten. If standard error
/// is not a terminal, plain lines can be written from time to time.
struct ProgressLine {
    private let title: String
    private let total: Int
    private let start: ContinuousClock.Instant
    private var terminal: TerminalLine
    private var plain: (pause: Duration, next: ContinuousClock.Instant)?
    private var window: [(at: ContinuousClock.Instant, done: Int)] = []

    /// - Parameter plainPause: the time between two plain lines when standard error is not a terminal, or nil for no lines.
    init(
        _ title: String, total: Int, now: ContinuousClock.Instant = .now, quiet: Bool = false,
        plainPause: Duration? = nil
    ) {
        (self.title, self.total, start) = (title, total, now)
        terminal = TerminalLine(quiet: quiet)
        if !quiet, !terminal.isShown { plain = plainPause.map { ($0, now + $0) } }
    }

    /// Shows that `done` of the total are done. Call this a few times per second.
    mutating func update(_ done: Int, note: String = "", now: ContinuousClock.Instant = .now) {
        if terminal.isShown {
            terminal.show(line(done, note: note, now: now))
        } else if let due = plain, now >= due.next {
            plain?.next = now + due.pause
            Terminal.write(line(done, note: note, now: now) + "\n", to: Terminal.standardError)
        }
    }

    mutating func finish() { terminal.finish() }

    /// The line, such as `delivering  41 %  410,000 of 1,000,000  52,300/s  11 s left`. The rate covers the last 5
    /// seconds.
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
