/// Rows in columns, for people. Numbers stand right, text left.
struct Table {
    enum Alignment {
        case left, right
    }

    private let titles: [String]
    private let alignments: [Alignment]
    private var rows: [[Cell]] = []

    struct Cell: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
        let text: String
        var paint: Paint?

        init(_ text: String, _ paint: Paint? = nil) {
            // Names come from Redis, too: a terminal gets nothing of them that moves it, and a row stays one line.
            self.text = PlainText.of(text, limit: .max)
            self.paint = paint
        }

        init(stringLiteral text: String) { self.init(text) }
    }

    init(_ columns: KeyValuePairs<String, Alignment>) {
        titles = columns.map(\.key)
        alignments = columns.map(\.value)
    }

    var isEmpty: Bool { rows.isEmpty }

    /// A missing cell is empty.
    mutating func add(_ cells: Cell...) {
        rows.append(cells + Array(repeating: Cell(""), count: max(0, titles.count - cells.count)))
    }

    /// The lines of the table, each with its line feed. Titles are left out when they are all empty.
    ///
    /// - Parameter columns: a line that is wider has its last cell cut, but not to less than a few letters; nil: none is.
    func text(colours: Bool, columns: Int? = nil) -> String {
        let head = titles.map { Cell($0, .dim) }
        let all = titles.allSatisfy(\.isEmpty) ? rows : [head] + rows
        let lines = columns.map { Self.cut(all, to: $0) } ?? all
        let widths = titles.indices.map { column in lines.map { $0[column].text.count }.max() ?? 0 }
        var text = ""
        for line in lines {
            var pending = ""
            for (column, cell) in line.enumerated() {
                if column > 0 { pending += "  " }
                let space = String(repeating: " ", count: widths[column] - cell.text.count)
                if alignments[column] == .right { pending += space }
                if !cell.text.isEmpty {
                    text += pending + (cell.paint?.on(cell.text, if: colours) ?? cell.text)
                    pending = ""
                }
                if alignments[column] == .left { pending += space }
            }
            text += "\n"
        }
        return text
    }

    private static func cut(_ lines: [[Cell]], to columns: Int) -> [[Cell]] {
        guard let count = lines.first?.count, count > 0 else { return lines }
        let before = (0..<(count - 1)).reduce(0) { sum, column in
            sum + 2 + (lines.map { $0[column].text.count }.max() ?? 0)
        }
        let room = max(20, columns - before)
        return lines.map { line in
            guard let last = line.last else { return line }
            return line.dropLast() + [Cell(PlainText.cut(last.text, to: room), last.paint)]
        }
    }
}
