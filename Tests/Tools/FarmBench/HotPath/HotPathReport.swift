import BenchKit

/// The report of the hot-path guard.
package struct HotPathReport {
    private let now: HotPathFigure
    private let before: HotPathFigure?

    package init(_ now: HotPathFigure, before: HotPathFigure?) { (self.now, self.before) = (now, before) }

    package var isGood: Bool {
        before.map { now.growth(since: $0) <= HotPathFigure.tolerance } ?? false
    }

    package var lines: [String] {
        var lines = ["\(Int(now.instructions).grouped) instructions of the worker a push"]
        let sum = now.parts.values.reduce(0, +)
        let rows = now.parts.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.map { part, count in
            [part, Int(count).grouped, BenchTable.percent(count / max(1, sum))]
        }
        lines += TextTable(rows).lines.map { "    " + $0 }
        guard let before else {
            return lines + ["there is no figure to compare with: make bench-guard RECORD=1"]
        }
        let growth = now.growth(since: before)
        lines.append(
            "\(growth < 0 ? "" : "+")\((growth * 100).text) % since \(Int(before.instructions).grouped) were recorded"
        )
        for (name, version) in now.versions.sorted(by: { $0.key < $1.key }) {
            let other = before.versions[name] ?? "none"
            if other != version { lines.append("not the same: \(name) \(version), recorded with \(other)") }
        }
        guard !isGood else { return lines }
        lines.append(
            "over \((HotPathFigure.tolerance * 100).brief) % is too much. What grew, instructions a push:")
        let grown = now.grown(since: before).prefix(25).map {
            [Int($0.before).grouped, "→", Int($0.now).grouped, $0.name]
        }
        lines += TextTable(Array(grown), left: [3]).lines.map { "    " + $0 }
        return lines + ["If that has to be: make bench-guard RECORD=1, and say in the commit why."]
    }
}
