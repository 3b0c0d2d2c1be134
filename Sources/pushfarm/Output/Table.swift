/// Rows in columns. Text is aligned left. Numbers, ids and times are aligned right, because columns that are aligned right
/// are never cut.
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
            // Names may come from Redis, and their control characters must not reach the terminal.
            self.text = PlainText.of(text, limit: .max)
            self.paint = paint
        }

        init(stringLiteral text: String) { self.init(text) }

        /// A number in few columns. The colour applies only to a number other than 0.
        static func number(_ value: Int, _ paint: Paint? = nil) -> Cell {
            Cell(Figures.short(value), value == 0 ? nil : paint)
        }
    }

    init(_ columns: KeyValuePairs<String, Alignment>) {
        titles = columns.map(\.key)
        alignments = columns.map(\.value)
    }

    var isEmpty: Bool { rows.isEmpty }

    /// Adds a row. Missing cells are empty.
    mutating func add(_ cells: Cell...) {
        rows.append(cells + Array(repeating: Cell(""), count: max(0, titles.count - cells.count)))
    }

    /// The lines of the table, each with its line feed. The title row is left out when all titles are empty.
    ///
    /// A table that is wider than `style.columns` is made to fit. Text in the last column continues on the next lines, and
    /// text in other columns is cut. Numbers are never cut.
    func text(_ style: TextStyle = TextStyle()) -> String {
        let head = titles.map { Cell($0, .dim) }
        let all = titles.allSatisfy(\.isEmpty) ? rows : [head] + rows
        let natural = titles.indices.map { column in all.map { $0[column].text.count }.max() ?? 0 }
        let widths = style.columns.map { fit(natural, to: $0) } ?? natural
        return all.flatMap { Self.lines(of: $0, widths) }.map { line(of: $0, widths, style) }.joined()
    }

    private static let (narrowest, narrowestLast, gap) = (6, 20, 2)

    private func fit(_ natural: [Int], to columns: Int) -> [Int] {
        var widths = natural
        func excess() -> Int { widths.reduce(0, +) + Self.gap * (widths.count - 1) - columns }
        if let last = widths.indices.last, alignments[last] == .left, excess() > 0 {
            widths[last] = max(min(widths[last], Self.narrowestLast), widths[last] - excess())
        }
        let texts = widths.indices.dropLast().filter { alignments[$0] == .left }
        while excess() > 0, let widest = texts.max(by: { widths[$0] < widths[$1] }),
            widths[widest] > Self.narrowest
        {
            widths[widest] -= 1
        }
        return widths
    }

    /// The lines of a row. The text of the last column may need several lines.
    private static func lines(of row: [Cell], _ widths: [Int]) -> [[Cell]] {
        guard let last = row.last, let width = widths.last else { return [row] }
        let cut = zip(row, widths).dropLast().map { cell, width in
            Cell(PlainText.cut(cell.text, to: width), cell.paint)
        }
        let texts = last.text.count > width ? PlainText.wrapped(last.text, to: width) : [last.text]
        return texts.enumerated().map { index, text in
            (index == 0 ? cut : cut.map { _ in Cell("") }) + [Cell(text, last.paint)]
        }
    }

    private func line(of cells: [Cell], _ widths: [Int], _ style: TextStyle) -> String {
        var (text, pending) = ("", "")
        for (column, cell) in cells.enumerated() {
            if column > 0 { pending += String(repeating: " ", count: Self.gap) }
            let space = String(repeating: " ", count: widths[column] - cell.text.count)
            if alignments[column] == .right { pending += space }
            if !cell.text.isEmpty {
                text += pending + (cell.paint?.on(cell.text, if: style.colours) ?? cell.text)
                pending = ""
            }
            if alignments[column] == .left { pending += space }
        }
        return text + "\n"
    }
}

/// Names, each with a number or a text.
struct FactTable {
    private var table = Table(["": .left, "": .right, "": .left])

    /// - Parameter always: whether to show the row when the number is 0.
    mutating func add(
        _ name: String, _ count: Int, _ paint: Paint? = nil, note: String = "", always: Bool = false
    ) {
        guard always || count != 0 else { return }
        table.add(.init(name, .dim), .init(Figures.grouped(count), paint), .init(note))
    }

    /// Adds a row for each reason, the greatest number first.
    mutating func add(reasons: [String: Int]) {
        for (reason, count) in reasons.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            add("  " + reason, count)
        }
    }

    func text(_ style: TextStyle) -> String { table.text(style) }
}
