/// Rows in columns of a screen: what does not fit is left out, the least important columns first.
struct TopTable {
    struct Column {
        let title: String
        var isRight = true
        /// Columns with a higher number go first when there is too little room; 0 stays.
        var rank = 0
        /// Takes the room that is left: a trend.
        var isTrend = false
        /// At most so wide; longer texts are cut.
        var most = 24
    }

    struct Row {
        let place: TopPlace
        /// A trend's text is made for the width that it gets.
        var cells: [Cell]
        var isSelected = false
    }

    enum Cell {
        case text(String, Paint?)
        case trend([Double])

        static func text(_ text: String) -> Cell { .text(text, nil) }
        var width: Int { if case .text(let text, _) = self { text.count } else { 0 } }
    }

    let columns: [Column]
    var rows: [Row]
    /// The column by which it is sorted, and whether the largest is on top.
    var sorted: (column: Int, isDescending: Bool)?

    private static let narrowestTrend = 8
    private static let widestTrend = 60

    /// The title and the rows.
    func lines(width: Int) -> [TopLine] {
        let (shown, widths) = layout(width)
        var head = TopLine()
        for (index, column) in shown.enumerated() {
            if index > 0 { head.add("  ") }
            let mark = sorted?.column == column ? (sorted?.isDescending == true ? "▼" : "▲") : ""
            let title = columns[column].title + mark
            head.add(
                pad(title, widths[index], right: columns[column].isRight && !columns[column].isTrend), .dim)
        }
        return [head] + rows.map { line(of: $0, shown, widths, width) }
    }

    private func line(of row: Row, _ shown: [Int], _ widths: [Int], _ width: Int) -> TopLine {
        var line = TopLine()
        for (index, column) in shown.enumerated() {
            if index > 0 { line.add("  ") }
            switch row.cells[column] {
            case .text(let text, let paint):
                line.add(pad(text, widths[index], right: columns[column].isRight), paint)
            case .trend(let values): line.add(TopHistory.sparkline(values, width: widths[index]), .cyan)
            }
        }
        line.isSelected = row.isSelected
        return line.cut(to: width)
    }

    private func layout(_ width: Int) -> (shown: [Int], widths: [Int]) {
        var shown = Array(columns.indices)
        func widest(_ column: Int) -> Int {
            if columns[column].isTrend { return Self.narrowestTrend }
            let mark = sorted?.column == column ? 1 : 0
            let longest = rows.reduce(columns[column].title.count + mark) { max($0, $1.cells[column].width) }
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
        let space = String(repeating: " ", count: width - cut.count)
        return right ? space + cut : cut + space
    }
}
