import Foundation

/// Findings as an SVG file: a bar for each sender, delivered and lost of the good pushes.
package struct BenchPicture {
    private let findings: [Finding]

    private static let (width, left, bar) = (960.0, 190.0, 430.0)
    private static let (row, gap, top) = (19.0, 44.0, 82.0)
    private static let (delivered, lost, doubled) = ("#2a9d5c", "#d64541", "#e0a030")

    package init(_ findings: [Finding]) { self.findings = findings }

    package var svg: String {
        let height =
            findings.reduce(Self.top) { $0 + Self.gap + Self.row * Double($1.tallies.count) } + 10
        var parts = [
            #"<svg xmlns="http://www.w3.org/2000/svg" width="\#(Self.point(Self.width))" height="\#(Self.point(height))" "#
                + #"viewBox="0 0 \#(Self.point(Self.width)) \#(Self.point(height))" font-family="sans-serif" font-size="12">"#,
            #"<rect width="100%" height="100%" fill="white"/>"#,
            text(
                20, 28, "What became of the good pushes over the binary interface", size: 17, weight: "bold"),
        ]
        var x = 20.0
        for (colour, name) in [
            (Self.delivered, "delivered"), (Self.lost, "lost"), (Self.doubled, "delivered twice"),
        ] {
            parts += [rectangle(x, 44, 12, 12, colour), text(x + 18, 54, name)]
            x += 120
        }
        parts.append(text(x, 54, "~ a part was sent, the rest is extrapolated"))
        var y = Self.top
        for finding in findings {
            parts.append(text(20, y + 14, "(\(finding.letter)) \(finding.title)", weight: "bold"))
            y += 22
            for tally in finding.tallies {
                parts += bar(tally, y)
                y += Self.row
            }
            y += Self.gap - 22
        }
        return (parts + ["</svg>"]).joined(separator: "\n") + "\n"
    }

    private func bar(_ tally: Tally, _ y: Double) -> [String] {
        let whole = tally.whole
        let scale = Self.bar / Double(max(1, whole.goodSent))
        let (good, bad) = (Double(whole.distinct) * scale, Double(max(0, whole.lost)) * scale)
        let mark = tally.isExtrapolated ? "~" : ""
        var words = "\(mark)\(whole.distinct.grouped) delivered, \(mark)\(whole.lost.grouped) lost"
        if whole.doubled > 0 { words += ", \(mark)\(whole.doubled.grouped) doubled" }
        var parts = [
            text(Self.left - 8, y + 12, tally.sender, anchor: "end"),
            rectangle(Self.left, y + 1, good, Self.row - 5, Self.delivered),
            rectangle(Self.left + good, y + 1, bad, Self.row - 5, Self.lost),
        ]
        if whole.doubled > 0 {
            let width = min(good, Double(whole.doubled) * scale)
            parts.append(rectangle(Self.left + good - width, y + 1, width, 4, Self.doubled))
        }
        parts.append(text(Self.left + Self.bar + 10, y + 12, "\(words); \(mark)\(whole.seconds.time)"))
        return parts
    }

    private func rectangle(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ colour: String)
        -> String
    {
        #"<rect x="\#(Self.point(x))" y="\#(Self.point(y))" width="\#(Self.point(width))" height="\#(Self.point(height))" fill="\#(colour)"/>"#
    }

    private func text(
        _ x: Double, _ y: Double, _ words: String, anchor: String = "start", size: Int = 12,
        weight: String = "normal"
    ) -> String {
        #"<text x="\#(Self.point(x))" y="\#(Self.point(y))" text-anchor="\#(anchor)" font-size="\#(size)" font-weight="\#(weight)">\#(Self.escaped(words))</text>"#
    }

    private static func point(_ value: Double) -> String { String(format: "%.1f", value) }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    }
}
