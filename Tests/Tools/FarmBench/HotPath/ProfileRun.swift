import BenchKit
import FarmHarness
import Foundation

/// Measures with perf's samples where a worker at full speed spends its time.
package struct ProfileRun {
    private static let pushes = 500_000

    private let cores: Cores

    package init(_ cores: Cores) { self.cores = cores }

    package func lines() async throws -> [String] {
        let folder = try TestFolder()
        let gateway = try await Gateway(
            in: folder.path, options: ["--no-first-stream-limit"], hasLedger: false)
        let farm = try await BenchFarm.start(BenchFarm.Options(workers: 1), gateway, in: folder.path)
        let jobs = PreparedJobs("p", pushes: Self.pushes, jobSize: 1_000)
        let data = folder.path + "/perf.data"
        var perf: Child?
        let run = try await farm.measure(cores) {
            try farm.push(jobs)
            perf = try Child(
                "record", "perf",
                [
                    "record", "-F", "1999", "-g", "-o", data, "-p", "\(farm.processes.workers[0])", "sleep",
                    "4",
                ],
                in: folder.path)
            try await farm.settled(jobs.pushes)
        }
        let complaints =
            try farm.jobRecord(of: jobs.ids).complaints(
                pushes: jobs.pushes, atGateway: try gateway.counter("accepted")) + (try await farm.end())
        guard complaints.isEmpty else { throw Overdue(description: complaints.joined(separator: ", ")) }
        _ = try await perf?.wait()
        let report = try Child(
            "report", "perf",
            ["report", "-i", data, "--stdio", "--no-children", "-g", "none", "-F", "overhead,dso,sym"]
                + ["-t", "|"], in: folder.path)
        _ = try await report.wait(within: .seconds(120))
        let shares = PerfShares(report.output)
        guard !shares.parts.isEmpty else {
            throw Overdue(description: "perf reports nothing: \(report.error)\(perf?.error ?? "")")
        }
        let whole = run.use.workers / Double(jobs.pushes) * 1e6
        return table(shares, whole) + ["others had \(BenchTable.percent(run.shareOfOthers)) of these cores"]
    }

    private func table(_ shares: PerfShares, _ whole: Double) -> [String] {
        var lines = ["a worker's \(whole.text) µs a push are spent on"]
        let parts = shares.parts.sorted { $0.value > $1.value }.map {
            [$0.key.rawValue, ($0.value * whole).text, BenchTable.percent($0.value)]
        }
        lines += TextTable(parts).lines.map { "    " + $0 }
        lines.append("the functions with the most of it")
        let functions = shares.functions.prefix(25).map {
            [($0.share * whole).text, $0.object, $0.name]
        }
        return lines + TextTable(Array(functions), left: [1, 2]).lines.map { "    " + $0 }
    }
}
