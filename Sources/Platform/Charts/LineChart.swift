import Foundation

/// An SVG chart. It has several panels with curves, one below the other, over one horizontal axis. Each panel has its own
/// vertical axis and a legend on the right.
package struct LineChart {
    package struct Curve: Sendable {
        let name: String
        let points: [(x: Double, y: Double)]

        package init(name: String, points: [(x: Double, y: Double)]) {
            self.name = name
            self.points = points
        }
    }

    package struct Panel: Sendable {
        let title: String
        let curves: [Curve]

        package init(title: String, curves: [Curve]) {
            self.title = title
            self.curves = curves
        }
    }

    private let title: String
    private let axis: String
    private let panels: [Panel]
    private let start: Double
    private let furthest: Double

    private static let width = 960.0
    private static let panelHeight = 230.0
    private static let (left, right, top, gap) = (70.0, 230.0, 50.0, 90.0)
    private static let colours = [
        "#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2", "#7f7f7f",
        "#bcbd22", "#005f73", "#ae2012", "#386641", "#5e548e",
    ]

    /// - Parameters:
    ///   - axis: the quantity on the horizontal axis.
    ///   - start: where the horizontal axis begins. No point is at a smaller value.
    package init(title: String, axis: String, from start: Double = 0, panels: [Panel]) {
        self.title = title
        self.axis = axis
        self.panels = panels
        let places = panels.flatMap(\.curves).flatMap(\.points).map(\.x)
        self.start = start
        furthest = max(places.max() ?? start, start + max(start.ulp, .leastNormalMagnitude))
    }

    package var svg: String {
        var drawing = Drawing(width: Self.width)
        drawing.text(Self.left, 24, title, size: 17, isBold: true)
        for (index, panel) in panels.enumerated() {
            draw(panel, at: Self.top + Double(index) * (Self.panelHeight + Self.gap), in: &drawing)
        }
        return drawing.svg(height: Self.top + (Self.panelHeight + Self.gap) * Double(panels.count))
    }

    private func draw(_ panel: Panel, at top: Double, in drawing: inout Drawing) {
        let width = Self.width - Self.left - Self.right
        let bottom = top + 20 + Self.panelHeight
        let greatest = panel.curves.flatMap(\.points).map(\.y).max() ?? 0
        let step = Self.step(atLeast: max(greatest, 1e-6) / 5)
        let ceiling = max((greatest / step).rounded(.up), 1) * step
        func x(_ value: Double) -> Double { Self.left + (value - start) / (furthest - start) * width }
        func y(_ value: Double) -> Double { bottom - value / ceiling * Self.panelHeight }

        drawing.text(Self.left, top + 10, panel.title, isBold: true)
        for tick in stride(from: 0, through: ceiling + step / 2, by: step) {
            drawing.line(Self.left, y(tick), Self.left + width, y(tick), "#dddddd")
            drawing.text(Self.left - 8, y(tick) + 4, Self.number(tick, step: step), anchor: .end)
        }
        let pace = Self.step(atLeast: (furthest - start) / 6)
        let first = (start / pace - 1e-9).rounded(.up) * pace
        for tick in stride(from: first, through: furthest + pace / 1000, by: pace) {
            drawing.line(x(tick), bottom, x(tick), bottom + 5, "#444444")
            drawing.text(x(tick), bottom + 19, Self.number(tick, step: pace), anchor: .middle)
        }
        drawing.line(Self.left, bottom, Self.left + width, bottom, "#444444")
        drawing.text(Self.left + width / 2, bottom + 36, axis, anchor: .middle)
        for (index, curve) in panel.curves.enumerated() {
            let colour = Self.colours[index % Self.colours.count]
            drawing.curve(curve.points.map { (x($0.x), y($0.y)) }, colour)
            let (row, legend) = (top + 26 + Double(index) * 15, Self.left + width + 14)
            drawing.line(legend, row - 4, legend + 18, row - 4, colour, width: 3)
            drawing.text(legend + 24, row, curve.name)
        }
    }

    /// Returns a round number, at least `least`, for the distance between ticks.
    private static func step(atLeast least: Double) -> Double {
        let power = pow(10, log10(max(least, 1e-9)).rounded(.down))
        return [1, 2, 5, 10].map { $0 * power }.first { $0 >= least * (1 - 1e-9) } ?? least
    }

    private static func number(_ value: Double, step: Double) -> String {
        let digits = max(0, Int(clamping: (-log10(step)).rounded(.up)))
        return String(format: "%.\(digits)f", value)
    }
}
