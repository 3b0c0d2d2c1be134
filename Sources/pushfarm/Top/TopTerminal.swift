import EventLoop
import FarmLogging
import Foundation

/// The terminal while `top` uses it: `top` reads single keys, shows a separate screen, and restores the terminal
/// at the end.
@Loop final class TopTerminal {
    var onKeys: @Loop ([TopKey]) -> Void = { _ in }
    /// Called when the window size has changed.
    var onResize: @Loop () -> Void = {}
    /// Called when the terminal was closed or when a signal asks this process to end.
    var onEnd: @Loop () -> Void = {}

    private let descriptor: Int32
    private let before: termios
    private let colours: Bool
    private var poll: Poll?
    private var signals: [SignalWatcher] = []
    private var isShown = false
    /// The lines on the screen. A draw writes only the lines that differ from these lines.
    private var shown: [String] = []

    /// Returns nil when standard input or output is not a terminal.
    init?() {
        guard Terminal.isTerminal(0), Terminal.isTerminal(1), let name = ttyname(1) else { return nil }
        // Opens the terminal again. With the inherited descriptor, O_NONBLOCK would also apply to the shell.
        descriptor = open(name, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        var settings = termios()
        guard descriptor >= 0, tcgetattr(descriptor, &settings) == 0 else { return nil }
        before = settings
        colours = Terminal.allowsColour(on: 1)
    }

    isolated deinit {
        hide()
        poll?.cancel()
        close(descriptor)
    }

    var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    func show() {
        guard !isShown else { return }
        isShown = true
        var raw = before
        raw.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG | IEXTEN)
        raw.c_iflag &= ~tcflag_t(IXON | ICRNL | INLCR | BRKINT)
        raw.c_oflag &= ~tcflag_t(OPOST)
        tcsetattr(descriptor, TCSADRAIN, &raw)
        // Switches to the alternate screen, without a cursor and without line wrapping.
        Terminal.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J", to: descriptor)
        shown = []
        if poll == nil { listen() }
    }

    /// Restores the terminal.
    func hide() {
        guard isShown else { return }
        isShown = false
        // A slow terminal may lose drawn lines, but it must get this sequence, which restores the normal
        // screen.
        Terminal.write(
            "\u{1B}[?2026l\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l", to: descriptor, timeout: 2_000)
        var settings = before
        tcsetattr(descriptor, TCSADRAIN, &settings)
    }

    func draw(_ lines: [TopLine], columns: Int) {
        guard isShown else { return }
        let next = lines.map { $0.painted(columns: columns, colours: colours) }
        var text = ""
        if next.count != shown.count {
            shown = []
            text += "\u{1B}[2J"
        }
        for (row, line) in next.enumerated() where row >= shown.count || shown[row] != line {
            // The line is erased before the text, because after a full line an erase would remove the last column.
            text += "\u{1B}[\(row + 1);1H\u{1B}[2K\(line)\u{1B}[0m"
        }
        // All changed lines are sent in one synchronized update, so that they appear together.
        let isWhole =
            text.isEmpty || Terminal.write("\u{1B}[?2026h\(text)\u{1B}[?2026l", to: descriptor)
        // If the terminal was too slow, the content of the screen is unknown, so all lines are drawn the next time.
        shown = isWhole ? next : []
    }

    /// Forgets the lines on the screen, so that all lines are drawn again.
    func forget() { shown = [] }

    /// Restores the terminal, and stops until the shell continues this process.
    func suspend() {
        hide()
        kill(getpid(), SIGSTOP)
        show()
        onResize()
    }

    private func listen() {
        let poll = Poll(descriptor) { [unowned self] _ in read() }
        poll.watch(.readable)
        self.poll = poll
        signals.append(SignalWatcher(SIGWINCH) { [unowned self] in onResize() })
        for number in [SIGTERM, SIGINT, SIGHUP, SIGQUIT] {
            signals.append(SignalWatcher(number) { [unowned self] in onEnd() })
        }
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = systemRead(descriptor, &buffer, buffer.count)
        if count > 0 { return onKeys(TopKey.keys(in: Array(buffer[..<count]))) }
        guard count == 0 || errno != EAGAIN && errno != EINTR else { return }
        poll?.cancel()
        onEnd()
    }
}

/// `read` of the C library. Inside `TopTerminal`, the name `read` means the type's own method.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}
