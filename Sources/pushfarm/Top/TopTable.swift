/// A table on a screen. If the columns do not fit the screen, the table omits the least important columns.
struct TopTable {
    struct Column {
        let title: String
        var isRight = true
        /// If the screen is too narrow, columns with a higher rank are left out first. A column with rank 0 always
        /// stays.
        var rank = 0
        /// Whether the column shows a trend, which fills the width that other columns leave free.
        var isTrend = false
        /// The largest width in columns. Longer texts are cut.
        var most = 24
    }

    struct Cell {
        var text = ""
        var paint: Paint?
        /// The value by which rows are sorted.
        var order = (number: 0.0, word: "")
        /// The values of a trend. The text of the trend is made when the column's width is known.
        var trend: [Double] = []

        static func word(_ text: String, _ paint: Paint? = nil) -> Cell {
            Cell(text: text, paint: paint, order: (0, text))
        }

        static func number(_ value: Int, _ paint: Paint? = nil) -> Cell {
            number(Double(value), Figures.short(value), paint)
        }

        static func number(_ value: Double, _ text: String, _ paint: Paint? = nil) -> Cell {
            Cell(text: text, paint: paint, order: (value, ""))
        }
    }

    struct Row {
        let view: TopView
        let cells: [Cell]
        var isSelected = false
    }

    let columns: [Column]
    var rows: [Row]
    /// The sort column, and whether the largest value is at the top.
    let sorted: (column: Int, isDescending: Bool)

    private static let narrowestTrend = 8
    private static let widestTrend = 60

    /// - Parameter rows: the rows in any order. Rows with equal values are sorted by their first cells.
    init(columns: [Column], rows: [Row], sorted: (column: Int, isDescending: Bool)) {
        (self.columns, self.sorted) = (columns, sorted)
        self.rows = rows.sorted {
            let (one, other) = ($0.cells[sorted.column].order, $1.cells[sorted.column].order)
            guard one == other else { return (one < other) != sorted.isDescending }
            return $0.cells[0].order.word < $1.cells[0].order.word
        }
    }

    /// The title line and the rows as lines of the screen.
    func lines(width: Int) -> [TopLine] {
        let (shown, widths) = layout(width)
        var head = TopLine()
        for (index, column) in shown.enumerated() {
            if index > 0 { head.add("  ") }
            let isRight = columns[column].isRight && !columns[column].isTrend
            head.add(pad(title(of: column), widths[index], right: isRight), .dim)
        }
        return [head] + rows.map { line(of: $0, shown, widths, width) }
    }

    private func title(of column: Int) -> String {
        columns[column].title + (sorted.column == column ? sorted.isDescending ? "▼" : "▲" : "")
    }

    private func line(of row: Row, _ shown: [Int], _ widths: [Int], _ width: Int) -> TopLine {
        var line = TopLine()
        for (index, column) in shown.enumerated() {
            if index > 0 { line.add("  ") }
            let cell = row.cells[column]
            if columns[column].isTrend {
                line.add(TopHistory.sparkline(cell.trend, width: widths[index]), .cyan)
            } else {
                line.add(pad(cell.text, widths[index], right: columns[column].isRight), cell.paint)
            }
        }
        line.isSelected = row.isSelected
        return line.cut(to: width)
    }

    private func layout(_ width: Int) -> (shown: [Int], widths: [Int]) {
        var shown = Array(columns.indices)
        func widest(_ column: Int) -> Int {
            if columns[column].isTrend { return Self.narrowestTrend }
            let longest = rows.reduce(title(of: column).count) { max($0, $1.cells[column].text.count) }
            return min(longest, columns[column].most)
        }
        func total() -> Int { shown.reduce(0) { $0 + widest($1) } + 2 * (shown.count - 1) }
        while total() > width, let rank = shown.map({ columns[$0].rank }).max(), rank > 0 {
            shown.removeAll { columns[$0].rank == rank }
        }
        var widths = shown.map(widest)
        if let trend = shown.firstIndex(where: { columns[$0].isTrend }) {
            widths[trend] = min(Self.widestTrend, Self.narrowestTrend + max(0, width - total()))
        }
        return (shown, widths)
    }

    private func pad(_ text: String, _ width: Int, right: Bool) -> String {
        let cut = PlainText.cut(text, to: width)
        return right ? cut.leftPadded(to: width) : cut.padding(to: width)
    }
}
