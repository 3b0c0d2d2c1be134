import Charts
import Foundation
import PushModel
import Variants

/// The result of `pushfarm bandit simulate` as a table, as JSON and as charts.
struct BanditReport {
    let chances: [Double]
    let simulations: Int
    let seed: UInt64
    let courses: [(name: String, course: BanditSimulation.MeanResults)]

    /// The maximum number of points of a curve. If a run is longer, only every n-th point is drawn.
    private static let mostPoints = 1_000

    func text(_ style: TextStyle) -> String {
        var table = Table([
            "POLICY": .left, "BEST CHOSEN": .right, "LAST REWARD": .right, "TOTAL REWARD": .right,
        ])
        for (name, course) in courses {
            table.add(
                .init(name), .init(Self.percent(course.bestChosen.last ?? 0)),
                .init(Self.decimal(course.reward.last ?? 0, 3)),
                .init(Self.decimal(course.cumulativeReward.last ?? 0, 1)))
        }
        return table.text(style)
    }

    var json: JSONValue {
        .object([
            "arms": .array(chances.map { .decimal($0) }), "simulations": .number(simulations),
            "seed": .string("\(seed)"),
            "policies": .array(
                courses.map { name, course in
                    .object([
                        "policy": .string(name), "best_chosen": Self.series(course.bestChosen),
                        "reward": Self.series(course.reward),
                        "cumulative_reward": Self.series(course.cumulativeReward),
                    ])
                }),
        ])
    }

    func write(chartTo file: String) throws(CommandFailure) {
        do {
            try Data(chart.svg.utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
        } catch {
            throw .failed("cannot write \(file): \(error.localizedDescription)")
        }
    }

    private var chart: LineChart {
        let panels: [(String, KeyPath<BanditSimulation.MeanResults, [Double]>)] = [
            ("Chance that the best variant is chosen", \.bestChosen), ("Average reward", \.reward),
            ("Cumulative reward", \.cumulativeReward),
        ]
        let list = chances.map { "\($0)" }.joined(separator: ", ")
        return LineChart(
            title: "Variants with chances \(list): \(simulations) games, seed \(seed)", axis: "pushes",
            panels: panels.map { title, path in
                LineChart.Panel(
                    title: title,
                    curves: courses.map {
                        .init(name: $0.name, points: Self.points($0.course[keyPath: path]))
                    })
            })
    }

    private static func points(_ series: [Double]) -> [(x: Double, y: Double)] {
        let gap = max(1, (series.count + mostPoints - 1) / mostPoints)
        return series.indices.filter { $0 % gap == 0 || $0 == series.count - 1 }
            .map { (Double($0 + 1), series[$0]) }
    }

    private static func series(_ values: [Double]) -> JSONValue { .array(values.map { .decimal($0) }) }
    private static func percent(_ value: Double) -> String { String(format: "%.1f %%", value * 100) }
    private static func decimal(_ value: Double, _ digits: Int) -> String {
        String(format: "%.\(digits)f", value)
    }
}
