import BenchKit

/// Formats results as lines of text.
package struct TallyTable {
    private static let head = [
        "sender", "delivered", "lost", "doubled", "claimed", "bad found", "connections", "at a time", "time",
    ]

    package static func text(_ finding: ExperimentResult) -> String {
        var lines = ["(\(finding.letter)) \(finding.title)"]
        lines += TextTable([head] + finding.tallies.map(row)).lines.map { "    " + $0 }
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
}
