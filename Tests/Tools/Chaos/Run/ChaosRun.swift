package import EventLoop
import FarmHarness
import Foundation

/// Runs scenarios and reports their outcomes.
@Loop package struct ChaosRun {
    package let seed: UInt64
    package let scale: Scale
    /// The folder for the ledgers and logs of failed scenarios.
    package let keep: String

    package init(seed: UInt64, scale: Scale, keep: String) {
        (self.seed, self.scale, self.keep) = (seed, scale, keep)
    }

    package func play(_ scenario: Scenario) async -> Outcome {
        var outcome = Outcome(scenario: scenario, seed: seed)
        let start = ContinuousClock.now
        do {
            let stage = try await Stage(
                scenario.options, scale: scale, seed: seed &* 1_000 &+ UInt64(scenario.number))
            do {
                do {
                    try await scenario.play(stage)
                } catch { stage.complain("\(error)") }
                outcome.verdict = try await stage.finish(within: scenario.timeout)
            } catch { stage.complain("\(error)") }
            outcome.bound = stage.expectation.doubles
            outcome.faults = stage.faults.count + stage.failures.count
            outcome.complaints = stage.complaints + outcome.verdict.complaints.map(\.description)
            if !outcome.isGood { outcome.folder = try kept(stage.folder.path, scenario, outcome) }
        } catch { outcome.complaints.append("\(error)") }
        let time = (ContinuousClock.now - start).components
        outcome.seconds = Double(time.seconds) + Double(time.attoseconds) * 1e-18
        return outcome
    }

    private func kept(_ folder: String, _ scenario: Scenario, _ outcome: Outcome) throws -> String {
        let files = FileManager.default
        let name = scenario.name.replacing(" ", with: "-").replacing(",", with: "")
        let place = "\(keep)/\(scenario.number)-\(name)-seed-\(seed)"
        try? files.removeItem(atPath: place)
        try files.createDirectory(atPath: place, withIntermediateDirectories: true)
        for file in try files.contentsOfDirectory(atPath: folder) where !file.hasSuffix(".sock") {
            try? files.copyItem(atPath: "\(folder)/\(file)", toPath: "\(place)/\(file)")
        }
        try (outcome.complaints.joined(separator: "\n") + "\n").write(
            toFile: place + "/complaints.log", atomically: true, encoding: .utf8)
        return place
    }
}
