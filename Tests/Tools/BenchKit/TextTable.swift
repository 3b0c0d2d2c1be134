/// Formats rows of cells as lines of text with aligned columns.
package struct TextTable {
    private let rows: [[String]]
    private let left: Set<Int>

    /// - Parameter left: the columns that are aligned left. All other columns are aligned right.
    package init(_ rows: [[String]], left: Set<Int> = [0]) { (self.rows, self.left) = (rows, left) }

    package var lines: [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            var line = row.enumerated().map { column, cell in
                let room = String(repeating: " ", count: widths[column] - cell.count)
                return left.contains(column) ? cell + room : room + cell
            }.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}
