import BenchKit
import Charts

/// Draws results as an SVG file: the distance of every figure from its bar, and the cost of a push compared with other clients.
package struct BenchPicture {
    private let findings: [BenchFinding]
    private let setting: BenchSetting

    private static let (width, left, scale) = (1180.0, 400.0, 180.0)
    private static let (row, gap) = (20.0, 16.0)
    /// The largest multiple of a bar that the drawing shows. Larger values are cut off.
    private static let farthest = 2.0
    private static let (met, missed, ours, tool, others) = (
        "#2a9d5c", "#d64541", "#2a9d5c", "#3a6ea5", "#b8b8b8"
    )

    package init(_ findings: [BenchFinding], _ setting: BenchSetting) {
        (self.findings, self.setting) = (findings, setting)
    }

    package var svg: String {
        var drawing = Drawing(width: Self.width)
        drawing.text(20, 28, "What the farm reaches of its bars", size: 17, isBold: true)
        drawing.text(20, 48, setting.lines[0], colour: "#555555")
        drawing.text(Self.left + Self.scale, 66, "the bar", anchor: .middle, colour: "#555555")
        let middle = bars(from: 76, in: &drawing)
        let end = costs(from: middle + 30, in: &drawing)
        return drawing.svg(height: end + 10)
    }

    private func bars(from top: Double, in drawing: inout Drawing) -> Double {
        var y = top
        for finding in findings {
            let figures = finding.figures.filter { $0.margin != nil }
            guard !figures.isEmpty else { continue }
            drawing.text(20, y + 14, "\(finding.key): \(finding.title)", isBold: true)
            y += Self.row
            for figure in figures {
                draw(figure, y, in: &drawing)
                y += Self.row
            }
            y += Self.gap
        }
        drawing.line(
            Self.left + Self.scale, top - 4, Self.left + Self.scale, y - Self.gap, "#222222", width: 1.5)
        return y
    }

    private func draw(_ figure: Figure, _ y: Double, in drawing: inout Drawing) {
        let margin = figure.margin ?? 0
        let length = Self.scale * min(margin, Self.farthest)
        drawing.text(Self.left - 8, y + 13, figure.title, anchor: .end)
        drawing.rectangle(
            Self.left, y + 2, length, Self.row - 6, figure.isReached == true ? Self.met : Self.missed)
        if margin > Self.farthest { drawing.text(Self.left + length + 3, y + 13, "»", colour: Self.met) }
        var words = "\(figure.value.median.brief) \(figure.unit)"
        if let ratio = figure.ratio {
            words += ", × \(ratio.median.text) (\(ratio.least.text) … \(ratio.greatest.text))"
        }
        words += ", bar \(figure.bar?.text ?? "")"
        if figure.areCoresFull { words += ", cores full" }
        drawing.text(Self.left + Self.scale * Self.farthest + 20, y + 13, words)
    }

    /// Draws the processor time of a push in microseconds.
    private func costs(from top: Double, in drawing: inout Drawing) -> Double {
        guard let worker = findings.first(where: { $0.key == "worker" })?.figures.first,
            let tool = worker.reference
        else { return top }
        drawing.text(
            20, top, "Processor time of the client, µs a push, one connection", size: 17, isBold: true)
        drawing.text(
            20, top + 20, "grey: measured elsewhere on such a machine (docs/internals/performance.md)",
            colour: "#555555")
        let rows =
            [("Pushfarm's worker", worker.value.median, Self.ours), ("h2load", tool.median, Self.tool)]
            + Peer.all.map { ($0.name, $0.microseconds, Self.others) }
        let longest = rows.map(\.1).max() ?? 1
        var y = top + 30
        for (name, cost, colour) in rows {
            drawing.text(Self.left - 8, y + 13, name, anchor: .end)
            drawing.rectangle(Self.left, y + 2, max(1, cost / longest * 540), Self.row - 6, colour)
            drawing.text(Self.left + cost / longest * 540 + 6, y + 13, cost.brief)
            y += Self.row
        }
        return y
    }
}
