import BenchKit
import Charts

/// Draws results as an SVG file: for each sender a bar of its delivered and lost good pushes.
package struct TallyPicture {
    private let findings: [ExperimentResult]

    private static let (width, left, bar) = (960.0, 190.0, 430.0)
    private static let (row, gap, top) = (19.0, 44.0, 82.0)
    private static let (delivered, lost, doubled) = ("#2a9d5c", "#d64541", "#e0a030")

    package init(_ findings: [ExperimentResult]) { self.findings = findings }

    package var svg: String {
        var drawing = Drawing(width: Self.width)
        drawing.text(
            20, 28, "What became of the good pushes over the binary interface", size: 17, isBold: true)
        var x = 20.0
        for (colour, name) in [
            (Self.delivered, "delivered"), (Self.lost, "lost"), (Self.doubled, "delivered twice"),
        ] {
            drawing.rectangle(x, 44, 12, 12, colour)
            drawing.text(x + 18, 54, name)
            x += 120
        }
        drawing.text(x, 54, "~ a part was sent, the rest is extrapolated")
        var y = Self.top
        for finding in findings {
            drawing.text(20, y + 14, "(\(finding.letter)) \(finding.title)", isBold: true)
            y += 22
            for tally in finding.tallies {
                bar(tally, y, in: &drawing)
                y += Self.row
            }
            y += Self.gap - 22
        }
        return drawing.svg(height: y + 10)
    }

    private func bar(_ tally: Tally, _ y: Double, in drawing: inout Drawing) {
        let whole = tally.whole
        let scale = Self.bar / Double(max(1, whole.goodSent))
        let (good, bad) = (Double(whole.distinct) * scale, Double(max(0, whole.lost)) * scale)
        let mark = tally.isExtrapolated ? "~" : ""
        var words = "\(mark)\(whole.distinct.grouped) delivered, \(mark)\(whole.lost.grouped) lost"
        if whole.doubled > 0 { words += ", \(mark)\(whole.doubled.grouped) doubled" }
        drawing.text(Self.left - 8, y + 12, tally.sender, anchor: .end)
        drawing.rectangle(Self.left, y + 1, good, Self.row - 5, Self.delivered)
        drawing.rectangle(Self.left + good, y + 1, bad, Self.row - 5, Self.lost)
        if whole.doubled > 0 {
            let width = min(good, Double(whole.doubled) * scale)
            drawing.rectangle(Self.left + good - width, y + 1, width, 4, Self.doubled)
        }
        drawing.text(Self.left + Self.bar + 10, y + 12, "\(words); \(mark)\(whole.seconds.time)")
    }
}
