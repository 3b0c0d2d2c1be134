import Charts
import Testing

struct LineChartTests {
    private static func chart(_ points: [(x: Double, y: Double)]) -> String {
        LineChart(
            title: "a < b & c", axis: "pushes",
            panels: [.init(title: "one", curves: [.init(name: "curve", points: points)])]
        ).svg
    }

    @Test func `a curve goes from the left to the right, and up to its ceiling`() {
        let svg = Self.chart([(0, 0), (50, 0.5), (100, 1)])
        #expect(svg.contains("points=\"70.0,300.0 400.0,185.0 730.0,70.0\""))
        #expect(svg.contains(">a &lt; b &amp; c</text>") && svg.contains(">curve</text>"))
        #expect(svg.contains(">0.2</text>") && svg.contains(">100</text>"))
    }

    @Test func `the axis begins at the given value, and its first tick is a round number`() {
        let svg = LineChart(
            title: "a night", axis: "hour", from: 2.9,
            panels: [.init(title: "one", curves: [.init(name: "curve", points: [(2.9, 0), (6, 1)])])]
        ).svg
        #expect(svg.contains("points=\"70.0,300.0 730.0,70.0\""))
        let ticks = svg.matches(of: />([0-9])<\/text>/).map { String($0.1) }
        #expect(ticks.suffix(4) == ["3", "4", "5", "6"], "\(ticks)")
    }

    private static let extremes: [[(Double, Double)]] = [[], [(0, 0)], [(1, 1e-12)], [(1e12, 1e12)]]

    @Test(arguments: extremes) func `any values make a whole file`(
        points: [(Double, Double)]
    ) {
        let svg = Self.chart(points.map { (x: $0.0, y: $0.1) })
        #expect(svg.hasPrefix("<svg ") && svg.hasSuffix("</svg>\n"))
        #expect(!svg.contains("nan") && !svg.contains("inf"))
        let texts = svg.matches(of: /<text/).count
        #expect(texts < 60)
    }
}
