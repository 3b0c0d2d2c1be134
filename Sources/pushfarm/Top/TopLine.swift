/// One line of a screen: pieces of text, each with its colour.
struct TopLine: Equatable {
    struct Piece: Equatable {
        var text: String
        var paint: Paint?
    }

    private(set) var pieces: [Piece] = []
    /// The number of columns that the line takes. Every character takes one column.
    private(set) var width = 0
    /// Whether the whole line is highlighted.
    var isSelected = false

    init(_ text: String = "", _ paint: Paint? = nil) { add(text, paint) }

    mutating func add(_ text: String, _ paint: Paint? = nil) {
        guard !text.isEmpty else { return }
        // Text from outside may contain control characters. Control characters must not reach the terminal.
        let plain = String(text.map { Self.isPlain($0) ? $0 : "?" })
        pieces.append(Piece(text: plain, paint: paint))
        width += plain.count
    }

    mutating func add(_ line: TopLine) {
        pieces += line.pieces
        width += line.width
    }

    /// Fills the line with spaces up to a column.
    mutating func pad(to column: Int) {
        if width < column { add(String(repeating: " ", count: column - width)) }
    }

    /// Places `text` at the right end of the line.
    mutating func end(with text: String, _ paint: Paint? = nil, at columns: Int) {
        guard text.count < columns else { return }
        self = cut(to: columns - text.count - 1)
        pad(to: columns - text.count)
        add(text, paint)
    }

    /// The line in at most this many columns. A line that is cut ends in "…".
    func cut(to columns: Int) -> TopLine {
        guard width > columns else { return self }
        var (line, remaining) = (TopLine(), max(0, columns - 1))
        line.isSelected = isSelected
        for piece in pieces where remaining > 0 {
            line.add(String(piece.text.prefix(remaining)), piece.paint)
            remaining -= min(remaining, piece.text.count)
        }
        if columns > 0 { line.add("…", line.pieces.last?.paint) }
        return line
    }

    var text: String { pieces.map(\.text).joined() }

    /// The line with terminal codes. A selected line has the full width.
    func painted(columns: Int, colours: Bool) -> String {
        if isSelected {
            var line = self
            line.pad(to: columns)
            guard colours else { return Paint.inverse.on(line.text, if: true) }
            // The selection is a dark grey background instead of inverse video, so that the colours of the
            // text stay readable.
            return line.pieces.map { piece in
                "\u{1B}[48;5;238m" + (piece.paint?.on(piece.text, if: true) ?? piece.text + "\u{1B}[0m")
            }.joined()
        }
        return pieces.map { $0.paint?.on($0.text, if: colours) ?? $0.text }.joined()
    }

    private static func isPlain(_ character: Character) -> Bool {
        guard let scalar = character.unicodeScalars.first, character.unicodeScalars.count == 1 else {
            return false
        }
        return scalar.value >= 0x20 && scalar.value < 0x7F || scalar.value >= 0xA0 && scalar.value < 0x3000
    }
}
