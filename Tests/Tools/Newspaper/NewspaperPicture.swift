import BenchKit
import Charts
import Foundation

/// The results of all nights as a table in Markdown, and as a picture.
struct NewspaperPicture {
    let results: [NightResult]
    let plan: NewspaperPlan

    var table: String {
        let head = [
            "pushes to a device, at most", "pushes", "devices with the edition at 06:00",
            "API requests in the busiest minute", "in the busiest second",
        ]
        let rows = results.map { result in
            let share = Double(result.done) / Double(max(1, plan.devices)) * 100
            return [
                result.night.name, Self.grouped(result.pushes), String(format: "%.1f %%", share),
                String(format: "%@ a second", Self.grouped(Int(result.busiestMinute.rounded()))),
                Self.grouped(result.peak),
            ]
        }
        return ([head, head.map { _ in "---" }] + rows).map { "| " + $0.joined(separator: " | ") + " |\n" }
            .joined()
    }

    var svg: String {
        let shares = results.filter { $0.night.cohorts != nil }.map { result in
            var done = 0
            let points = result.minutes.map { minute in
                done += minute.done
                return (x: Self.hour(minute.at), y: Double(done) / Double(max(1, plan.devices)) * 100)
            }
            return LineChart.Curve(name: "at most \(result.night.name) pushes", points: points)
        }
        let rounds = results.map(\.night.rounds).max() ?? 0
        let loads = results.filter { $0.night.rounds == rounds }.map { result in
            LineChart.Curve(
                name: result.night.cohorts.map { "\($0) cohorts" } ?? "without cohorts",
                points: result.minutes.map { (Self.hour($0.at), Double($0.apiRequests) / 60) })
        }
        return LineChart(
            title: "A night of \(Self.grouped(plan.devices)) simulated devices", axis: "hour of the day",
            from: Self.hour(NewspaperPlan.start.minutes),
            panels: [
                .init(title: "devices with the edition, percent", curves: shares),
                .init(title: "requests to the publisher's API, a second", curves: loads),
            ]
        ).svg
    }

    private static func hour(_ minute: Int) -> Double { Double(minute) / 60 }

    private static func grouped(_ number: Int) -> String {
        var digits = String(number)
        var parts: [String] = []
        while digits.count > 3 {
            parts.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        return ([digits] + parts).joined(separator: ",")
    }
}
