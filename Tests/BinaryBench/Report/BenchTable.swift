/// Findings as lines of text.
package struct BenchTable {
    private static let head = [
        "sender", "delivered", "lost", "doubled", "claimed", "bad found", "connections", "at a time", "time",
    ]
    private static let widths = [24, 11, 9, 9, 11, 11, 13, 11, 10]

    package static func text(_ finding: Finding) -> String {
        var lines = ["(\(finding.letter)) \(finding.title)", line(head)]
        lines += finding.tallies.map { line(row($0)) }
        for bar in finding.verdict?.bars ?? [] {
            lines.append("    \(bar.isReached ? "yes" : "NO "): \(bar.text)")
        }
        lines += (finding.verdict?.broken ?? []).map { "    BROKEN: \($0)" }
        return lines.joined(separator: "\n")
    }

    private static func row(_ tally: Tally) -> [String] {
        let mark = tally.isExtrapolated ? "~" : ""
        func number(_ count: Int) -> String { mark + tally.scaled(count).grouped }
        return [
            tally.sender, number(tally.distinct), number(tally.lost), number(tally.doubled),
            number(tally.claimed), number(tally.found), number(tally.connections),
            tally.mostConnections.grouped, mark + tally.scaledSeconds.time,
        ]
    }

    private static func line(_ cells: [String]) -> String {
        zip(cells, widths).enumerated().map { index, cell in
            let room = String(repeating: " ", count: max(1, cell.1 - cell.0.count))
            return index == 0 ? "    " + cell.0 + room : room + cell.0
        }.joined()
    }
}
