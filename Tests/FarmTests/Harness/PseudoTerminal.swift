import FarmHarness
import Foundation

/// A program in its own terminal, with the terminal's screen.
final class PseudoTerminal {
    private let main: Int32
    private let side: Int32
    private let before: termios
    let child: Child
    private var screen: Screen

    /// - Parameter program: a program that is started with the terminal as its input and output.
    init(_ name: String, _ program: String, _ arguments: [String], columns: Int, rows: Int, in folder: String)
        throws
    {
        var (main, side): (Int32, Int32) = (-1, -1)
        var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        guard openpty(&main, &side, nil, nil, &size) == 0, let path = ttyname(side) else {
            throw Overdue(description: "no terminal to be had")
        }
        for end in [main, side] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(main, F_SETFL, O_NONBLOCK)
        (self.main, self.side) = (main, side)
        var settings = termios()
        tcgetattr(side, &settings)
        before = settings
        screen = Screen(columns: columns, rows: rows)
        let words = ([program] + arguments).map { "'\($0)'" }.joined(separator: " ")
        child = try Child(
            name, "/bin/sh", ["-c", "exec \(words) <\(String(cString: path)) >\(String(cString: path))"],
            environment: ["TERM": "xterm-256color"], in: folder)
    }

    deinit {
        child.destroy()
        close(main)
        close(side)
    }

    func type(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { write(main, $0.baseAddress!, $0.count) }
    }

    /// Types text, and waits until the program has read the whole text at once. Does not read the screen meanwhile.
    func typeUnseen(_ text: String) async throws {
        // The program is stopped while the test types. A running program could read only a part of the text.
        child.signal(SIGSTOP)
        type(text)
        try await eventually("it is there to be read") { unread == text.utf8.count }
        child.signal(SIGCONT)
        try await eventually("it is read") { unread == 0 }
    }

    /// The number of bytes that were typed and not yet read.
    private var unread: Int {
        var count: Int32 = 0
        return ioctl(side, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
    }

    /// Changes the window size, and notifies the program as a terminal does.
    func resize(columns: Int, rows: Int) {
        var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(main, UInt(TIOCSWINSZ), &size)
        screen.resize(columns: columns, rows: rows)
        child.signal(SIGWINCH)
    }

    /// The lines of the screen after all output so far.
    var lines: [String] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(main, &buffer, buffer.count), count > 0 { screen.take(buffer[..<count]) }
        return screen.lines
    }

    /// Whether the program has left the alternate screen, shows the cursor, and has restored the terminal's settings.
    var isRestored: Bool {
        _ = lines
        var settings = termios()
        tcgetattr(side, &settings)
        return !screen.isAlternate && screen.showsCursor && settings.c_lflag == before.c_lflag
            && settings.c_iflag == before.c_iflag && settings.c_oflag == before.c_oflag
    }

    var isAlternate: Bool {
        _ = lines
        return screen.isAlternate
    }

    /// The terminal functions that `top` uses.
    private struct Screen {
        private var columns: Int
        private var rows: Int
        private var cells: [[Character]]
        private var (row, column) = (0, 0)
        private(set) var isAlternate = false
        private(set) var showsCursor = true
        /// The first bytes of an incomplete character or escape sequence.
        private var rest: [UInt8] = []
        private var begun: [Unicode.Scalar] = []

        init(columns: Int, rows: Int) {
            (self.columns, self.rows) = (columns, rows)
            cells = Array(repeating: Array(repeating: " ", count: columns), count: rows)
        }

        var lines: [String] {
            cells.map { line in
                var text = String(line)
                while text.last == " " { text.removeLast() }
                return text
            }
        }

        mutating func resize(columns: Int, rows: Int) {
            (self.columns, self.rows) = (columns, rows)
            (row, column) = (0, 0)
            cells = Array(repeating: Array(repeating: " ", count: columns), count: rows)
        }

        mutating func take(_ bytes: ArraySlice<UInt8>) {
            rest += bytes
            let whole = rest.count - Self.unfinished(rest)
            let text = String(decoding: rest[..<whole], as: UTF8.self)
            rest.removeFirst(whole)
            var characters = (begun + text.unicodeScalars)[...]
            begun = []
            while let scalar = characters.popFirst() {
                switch scalar {
                case "\u{1B}":
                    let words = characters.dropFirst().prefix { (0x30...0x3F).contains($0.value) }
                    guard characters.count > 1 + words.count else {
                        begun = [scalar] + characters
                        return
                    }
                    // An incomplete escape sequence ends where the next sequence begins.
                    guard characters.first == "[" else { continue }
                    characters = characters.dropFirst(1 + words.count)
                    if let last = characters.first, last != "\u{1B}" {
                        characters.removeFirst()
                        apply(String(String.UnicodeScalarView(words)), last)
                    }
                case "\r": column = 0
                case "\n": row = min(rows - 1, row + 1)
                default:
                    // The terminal does not wrap lines, so extra characters overwrite the last column.
                    cells[row][min(column, columns - 1)] = Character(scalar)
                    column = min(columns, column + 1)
                }
            }
        }

        /// The number of bytes of an incomplete character at the end.
        private static func unfinished(_ bytes: [UInt8]) -> Int {
            guard let first = bytes.suffix(4).lastIndex(where: { $0 & 0xC0 != 0x80 }) else { return 0 }
            let length =
                switch bytes[first] {
                case 0xF0...: 4
                case 0xE0...: 3
                case 0xC0...: 2
                default: 1
                }
            return bytes.count - first < length ? bytes.count - first : 0
        }

        private mutating func apply(_ words: String, _ last: Unicode.Scalar) {
            switch (words, last) {
            case ("?1049", "h"): isAlternate = true
            case ("?1049", "l"): isAlternate = false
            case ("?25", "l"): showsCursor = false
            case ("?25", "h"): showsCursor = true
            case ("2", "J"): cells = Array(repeating: Array(repeating: " ", count: columns), count: rows)
            case ("2", "K"): cells[row] = Array(repeating: " ", count: columns)
            case ("", "K"): for index in min(column, columns - 1)..<columns { cells[row][index] = " " }
            case (_, "H"):
                let numbers = words.split(separator: ";").compactMap { Int($0) }
                row = min(rows, max(1, numbers.first ?? 1)) - 1
                column = min(columns, max(1, numbers.last ?? 1)) - 1
            default: break
            }
        }
    }
}
