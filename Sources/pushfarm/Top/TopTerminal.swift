import EventLoop
import FarmLogging
import Foundation

/// The terminal while `top` has it: keys one by one, a screen of its own, and everything as it was at the end.
@Loop final class TopTerminal {
    var onKeys: @Loop ([TopKey]) -> Void = { _ in }
    /// The window has another size.
    var onResize: @Loop () -> Void = {}
    /// The terminal is gone.
    var onEnd: @Loop () -> Void = {}

    private let descriptor: Int32
    private let before: termios
    private let colours: Bool
    private var poll: Poll?
    private var signals: [SignalWatcher] = []
    private var isShown = false
    /// What stands there: only lines that differ are written.
    private var shown: [String] = []

    /// Nil when standard input or output is no terminal.
    init?() {
        guard Terminal.isTerminal(0), Terminal.isTerminal(1), let name = ttyname(1) else { return nil }
        // A description of our own: what is done to it is not done to the shell's.
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
        // The other screen, without a cursor and without wrapping.
        Terminal.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J", to: descriptor)
        shown = []
        if poll == nil { listen() }
    }

    /// Everything is as it was.
    func hide() {
        guard isShown else { return }
        isShown = false
        // What is drawn may be lost when a terminal is slow, but not this.
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
            // Erased before: behind the last column the cursor stands on it.
            text += "\u{1B}[\(row + 1);1H\u{1B}[2K\(line)\u{1B}[0m"
        }
        // What has come together appears together.
        let isWhole =
            text.isEmpty || Terminal.write("\u{1B}[?2026h\(text)\u{1B}[?2026l", to: descriptor)
        // Nobody knows what stands there when a terminal was too slow to take it.
        shown = isWhole ? next : []
    }

    /// What stands there is not what was drawn.
    func forget() { shown = [] }

    /// Gives the terminal back, and stops until the shell lets this process go on.
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

/// `read` of the C library, where `TopTerminal.read` hides it.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}
