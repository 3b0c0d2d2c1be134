import Chaos
import EventLoop
import Foundation

/// Runs all scenarios in turn, each for its share of the time. In the remaining time, repeats the scenario with a mixture of
/// faults.
@Loop struct ScenarioSeries {
    let minutes: Double
    let seed: UInt64
    let only: Set<Int>
    let keep: String

    /// Seconds that a scenario needs besides its faults, for start, draining and end.
    private static let overhead = 12.0

    func run() async -> Bool {
        let scenarios = (Scenario.all + [.sabotage]).filter {
            only.isEmpty ? $0.number > 0 : only.contains($0.number)
        }
        let start = ContinuousClock.now
        let each = max(6, minutes * 60 / Double(max(1, scenarios.count)) - Self.overhead)
        let scale = Scale(span: .seconds(each), isShort: minutes < 5)
        let run = ChaosRun(seed: seed, scale: scale, keep: keep)
        LineOutput.say("seed \(seed), \(Int(each)) s of faults each\n\n\(Outcome.heading)")
        var outcomes: [Outcome] = []
        for scenario in scenarios { outcomes.append(await play(scenario, run)) }
        if only.isEmpty, let last = scenarios.last(where: { $0.number == 28 }) {
            var number = seed
            while ContinuousClock.now - start < .seconds(minutes * 60 - 30) {
                number += 1
                outcomes.append(await play(last, ChaosRun(seed: number, scale: scale, keep: keep)))
            }
        }
        return report(outcomes)
    }

    private func play(_ scenario: Scenario, _ run: ChaosRun) async -> Outcome {
        let outcome = await run.play(scenario)
        LineOutput.say(outcome.line)
        for complaint in outcome.complaints.prefix(8) { LineOutput.say("     \(complaint)") }
        if let folder = outcome.folder { LineOutput.say("     kept in \(folder)") }
        return outcome
    }

    private func report(_ outcomes: [Outcome]) -> Bool {
        let file = keep + "/chaos.json"
        do {
            try FileManager.default.createDirectory(atPath: keep, withIntermediateDirectories: true)
            let data = try JSONSerialization.data(
                withJSONObject: outcomes.map(\.json), options: [.prettyPrinted, .sortedKeys])
            try data.write(to: URL(fileURLWithPath: file))
        } catch { LineOutput.say("cannot write \(file): \(error)") }
        let bad = outcomes.count { !$0.isGood }
        let pushes = outcomes.reduce(0) { $0 + $1.verdict.pushes }
        let faults = outcomes.reduce(0) { $0 + $1.faults }
        let lost = outcomes.reduce(0) { $0 + $1.verdict.lost }
        let duplicates = outcomes.reduce(0) { $0 + $1.verdict.duplicates }
        LineOutput.say(
            "\n\(outcomes.count) runs, \(faults) faults, \(pushes) pushes: \(lost) lost, \(duplicates) duplicates, "
                + "\(bad == 0 ? "all good" : "\(bad) FAILED")\ndetails: \(file)")
        return bad == 0
    }
}
