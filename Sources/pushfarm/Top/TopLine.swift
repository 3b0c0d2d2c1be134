/// One line of a screen: pieces of text, each with its paint.
struct TopLine: Equatable {
    struct Piece: Equatable {
        var text: String
        var paint: Paint?
    }

    private(set) var pieces: [Piece] = []
    /// Every character takes one column.
    private(set) var width = 0
    /// All of it stands out.
    var isSelected = false

    init(_ text: String = "", _ paint: Paint? = nil) { add(text, paint) }

    mutating func add(_ text: String, _ paint: Paint? = nil) {
        guard !text.isEmpty else { return }
        // What comes from elsewhere may hold anything: a terminal gets nothing of it that moves it.
        let plain = String(text.map { Self.isPlain($0) ? $0 : "?" })
        pieces.append(Piece(text: plain, paint: paint))
        width += plain.count
    }

    mutating func add(_ line: TopLine) {
        pieces += line.pieces
        width += line.width
    }

    /// Fills up with spaces.
    mutating func pad(to column: Int) {
        if width < column { add(String(repeating: " ", count: column - width)) }
    }

    /// Its last columns are `text`.
    mutating func end(with text: String, _ paint: Paint? = nil, at columns: Int) {
        guard text.count < columns else { return }
        self = cut(to: columns - text.count - 1)
        pad(to: columns - text.count)
        add(text, paint)
    }

    /// Not wider; what is cut ends in "…".
    func cut(to columns: Int) -> TopLine {
        guard width > columns else { return self }
        var (line, left) = (TopLine(), max(0, columns - 1))
        line.isSelected = isSelected
        for piece in pieces where left > 0 {
            line.add(String(piece.text.prefix(left)), piece.paint)
            left -= min(left, piece.text.count)
        }
        if columns > 0 { line.add("…", line.pieces.last?.paint) }
        return line
    }

    var text: String { pieces.map(\.text).joined() }

    /// With the codes of a terminal, as wide as it is when it is selected.
    func painted(columns: Int, colours: Bool) -> String {
        if isSelected {
            var line = self
            line.pad(to: columns)
            guard colours else { return Paint.inverse.on(line.text, if: true) }
            // A lighter ground, on which colours are seen as elsewhere.
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
