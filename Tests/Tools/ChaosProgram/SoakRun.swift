import Chaos
import EventLoop
import Foundation

/// A soak run and its reports: a table, all samples as CSV, and a picture.
@Loop struct SoakRun {
    let minutes: Double
    let seed: UInt64
    let folder: String

    func run() async throws -> Bool {
        LineOutput.say("soak for \(minutes) minutes, seed \(seed)")
        let report = try await Soak(minutes: minutes, seed: seed).run()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let picture = Picture(
            title: "Pushfarm at half load, 5 % faults, a worker killed every minute", series: report.series)
        try picture.svg.write(toFile: folder + "/soak.svg", atomically: true, encoding: .utf8)
        try report.csv.write(toFile: folder + "/soak.csv", atomically: true, encoding: .utf8)
        LineOutput.say(
            """
            \(report.table)

            \(report.jobs) jobs, \(report.accepted) pushes accepted, \(report.outcomes) outcomes, \
            \(report.delivered) delivered, \(report.atGateway) at the gateway, \(report.kills) workers killed
            """)
        for complaint in report.complaints { LineOutput.say(complaint) }
        LineOutput.say(
            "\(report.isGood ? "flat" : "FAILED")\nsamples and picture: \(folder)/soak.csv, soak.svg")
        return report.isGood
    }
}
