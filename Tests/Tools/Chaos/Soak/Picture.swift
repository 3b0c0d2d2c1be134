import Charts

/// Draws series over time as an SVG file: one panel for each unit, one below the other.
package struct Picture {
    private let chart: LineChart

    package init(title: String, series: [Series]) {
        let series = series.filter { !$0.points.isEmpty }
        let panels = Series.Unit.allCases.map { unit in
            LineChart.Panel(
                title: Self.name(of: unit), curves: series.filter { $0.unit == unit }.map(Self.curve))
        }
        chart = LineChart(title: title, axis: "minutes", panels: panels)
    }

    package var svg: String { chart.svg }

    private static func curve(_ series: Series) -> LineChart.Curve {
        let slope = (series.slope < 0 ? "" : "+") + Soak.text(series.slope)
        return LineChart.Curve(
            name: "\(series.name) \(slope)/h", points: series.points.map { ($0.time / 60, $0.value) })
    }

    private static func name(of unit: Series.Unit) -> String {
        switch unit {
        case .megabytes: "Resident memory, MB (the largest of several workers)"
        case .descriptors: "Open file descriptors"
        case .entries: "Length of keys, entries (all shards together)"
        }
    }
}
