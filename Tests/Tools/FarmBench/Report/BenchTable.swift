import BenchKit

/// Formats results as lines of text.
package struct BenchTable {
    private static let head = ["", "median", "min … max", "beside", "ratio", "min … max", "bar", ""]

    package static func text(_ finding: BenchFinding) -> String {
        var lines = ["\(finding.key): \(finding.title)"]
        let table = TextTable([head] + finding.figures.map(row), left: [0, 7])
        lines += table.lines.map { "    " + $0 }
        lines += finding.broken.map { "    BROKEN: \($0)" }
        if let shareOfOthers = finding.shareOfOthers {
            let shares = "\(percent(shareOfOthers.median)) (at most \(percent(shareOfOthers.greatest)))"
            lines.append("    others had \(shares) of these cores")
            if finding.hadTooMuchCompany {
                lines.append(
                    "    WARNING: over \(percent(BenchFinding.tooMuchCompany)) is too much: do not trust these"
                )
            }
        }
        return lines.joined(separator: "\n")
    }

    static func percent(_ share: Double) -> String { "\(Int((share * 100).rounded())) %" }

    private static func row(_ figure: Figure) -> [String] {
        var row = [figure.title, "\(figure.value.median.brief) \(figure.unit)", range(figure.value)]
        if let reference = figure.reference, let ratio = figure.ratio {
            row += [
                "\(figure.referenceTitle ?? "") \(reference.median.brief)", "× " + ratio.median.text,
                "\(ratio.least.text) … \(ratio.greatest.text)",
            ]
        } else {
            row += ["", "", ""]
        }
        row.append(figure.bar?.text ?? "")
        row.append(verdict(figure))
        return row
    }

    static func verdict(_ figure: Figure) -> String {
        switch figure.isReached {
        case nil: ""
        case true?: figure.areCoresFull ? "yes: the cores are full" : "yes"
        case false?: "NO"
        }
    }

    private static func range(_ spread: Spread) -> String {
        spread.least == spread.greatest ? "" : "\(spread.least.brief) … \(spread.greatest.brief)"
    }
}
