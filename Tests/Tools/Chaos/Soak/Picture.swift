import Foundation

/// Draws series over time as an SVG file: a panel a unit, one below the other.
package struct Picture {
    private let title: String
    private let series: [Series]
    private let minutes: Double

    private static let width = 960.0
    private static let panelHeight = 250.0
    private static let (left, right, top, gap) = (70.0, 220.0, 50.0, 70.0)
    private static let colours = [
        "#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2", "#7f7f7f",
        "#bcbd22", "#005f73", "#ae2012", "#386641", "#5e548e",
    ]

    package init(title: String, series: [Series]) {
        self.title = title
        self.series = series.filter { !$0.points.isEmpty }
        minutes = max(0.1, (self.series.flatMap(\.points).map(\.time).max() ?? 60) / 60)
    }

    package var svg: String {
        let panels = Series.Unit.allCases.map { unit in (unit, series.filter { $0.unit == unit }) }
        let height = Self.top + (Self.panelHeight + Self.gap) * Double(panels.count)
        var parts = [
            #"<svg xmlns="http://www.w3.org/2000/svg" width="\#(Self.width)" height="\#(height)" "#
                + #"viewBox="0 0 \#(Self.width) \#(height)" font-family="sans-serif" font-size="12">"#,
            #"<rect width="100%" height="100%" fill="white"/>"#,
            #"<text x="\#(Self.point(Self.left))" y="24" font-size="17" font-weight="bold">\#(Self.escaped(title))</text>"#,
        ]
        for (index, panel) in panels.enumerated() {
            let y = Self.top + Double(index) * (Self.panelHeight + Self.gap)
            parts += draw(panel.1, panel.0, y)
        }
        return (parts + ["</svg>"]).joined(separator: "\n") + "\n"
    }

    private func draw(_ series: [Series], _ unit: Series.Unit, _ top: Double) -> [String] {
        let (width, height) = (Self.width - Self.left - Self.right, Self.panelHeight - 20)
        let most = max(series.map(\.greatest).max() ?? 1, 1)
        let step = Self.step(most / 5)
        let ceiling = (most / step).rounded(.up) * step
        let bottom = top + 20 + height
        func x(_ seconds: Double) -> Double { Self.left + seconds / 60 / minutes * width }
        func y(_ value: Double) -> Double { bottom - value / ceiling * height }
        var parts = [
            #"<text x="\#(Self.point(Self.left))" y="\#(Self.point(top + 10))" font-weight="bold">\#(Self.name(of: unit))</text>"#
        ]
        for tick in stride(from: 0, through: ceiling + step / 2, by: step) {
            parts.append(line(Self.left, y(tick), Self.left + width, y(tick), "#dddddd"))
            parts.append(
                #"<text x="\#(Self.point(Self.left - 8))" y="\#(Self.point(y(tick) + 4))" text-anchor="end">\#(Self.number(tick))</text>"#
            )
        }
        let pace = Self.step(minutes / 6)
        for tick in stride(from: 0, through: minutes + pace / 1000, by: pace) {
            parts.append(line(x(tick * 60), bottom, x(tick * 60), bottom + 5, "#444444"))
            parts.append(
                #"<text x="\#(Self.point(x(tick * 60)))" y="\#(Self.point(bottom + 19))" text-anchor="middle">\#(Self.number(tick))</text>"#
            )
        }
        parts.append(line(Self.left, bottom, Self.left + width, bottom, "#444444"))
        parts.append(
            #"<text x="\#(Self.point(Self.left + width / 2))" y="\#(Self.point(bottom + 36))" text-anchor="middle">minutes</text>"#
        )
        for (index, one) in series.enumerated() {
            let colour = Self.colours[index % Self.colours.count]
            let points = one.points.map { String(format: "%.1f,%.1f", x($0.time), y($0.value)) }
            parts.append(
                #"<polyline fill="none" stroke="\#(colour)" stroke-width="1.5" points="\#(points.joined(separator: " "))"/>"#
            )
            let row = top + 26 + Double(index) * 15
            let legend = Self.left + width + 14
            parts.append(line(legend, row - 4, legend + 18, row - 4, colour, 3))
            let slope = (one.slope < 0 ? "" : "+") + Soak.text(one.slope)
            parts.append(
                #"<text x="\#(Self.point(legend + 24))" y="\#(Self.point(row))">\#(Self.escaped(one.name)) \#(slope)/h</text>"#
            )
        }
        return parts
    }

    private func line(
        _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ colour: String, _ width: Double = 1
    ) -> String {
        #"<line x1="\#(Self.point(x1))" y1="\#(Self.point(y1))" x2="\#(Self.point(x2))" y2="\#(Self.point(y2))" stroke="\#(colour)" stroke-width="\#(Self.point(width))"/>"#
    }

    private static func name(of unit: Series.Unit) -> String {
        switch unit {
        case .megabytes: "Resident memory, MB (the largest of several workers)"
        case .descriptors: "Open file descriptors"
        case .entries: "Length of keys, entries (all shards together)"
        }
    }

    /// A coordinate.
    private static func point(_ value: Double) -> String { String(format: "%.1f", value) }

    /// A round distance between ticks.
    private static func step(_ least: Double) -> Double {
        let power = pow(10, log10(max(least, 1e-9)).rounded(.down))
        return [1, 2, 5, 10].map { $0 * power }.first { $0 >= least } ?? least
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() ? String(Int(value)) : String(format: "%.1f", value)
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    }
}
