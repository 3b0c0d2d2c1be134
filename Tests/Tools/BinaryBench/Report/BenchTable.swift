import BenchKit

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
        let whole = tally.whole
        func number(_ count: Int) -> String { mark + count.grouped }
        return [
            tally.sender, number(whole.distinct), number(whole.lost), number(whole.doubled),
            number(whole.claimed), number(whole.found), number(whole.connections),
            tally.mostConnections > 0 ? tally.mostConnections.grouped : "-", mark + whole.seconds.time,
        ]
    }

    private static func line(_ cells: [String]) -> String {
        zip(cells, widths).enumerated().map { index, cell in
            let room = String(repeating: " ", count: max(1, cell.1 - cell.0.count))
            return index == 0 ? "    " + cell.0 + room : room + cell.0
        }.joined()
    }
}
