import BenchKit
import FarmHarness
import Foundation

/// Runs a worker of the release build under callgrind, with Redis and a simulator outside callgrind.
///
/// The worker is so slow under callgrind that its next input is always ready, so each run executes the same instructions. A
/// second run with fewer pushes also contains the start of the farm. The count is the difference of the two runs, so it does not
/// contain the start.
package struct HotPathRun {
    private static let (few, many) = (8_000, 40_000)
    private static let jobSize = 1_000
    /// The worker's periodic functions, which the count excludes. Under callgrind a push takes so long that these functions run
    /// more often per push than without callgrind.
    private static let byTheClock = ["releaseIdleCode", "lookAfterApps", "sendNumbers"]

    package init() {}

    package func figure() async throws -> HotPathFigure {
        let (small, large) = try await (profile(Self.few), profile(Self.many))
        return try await HotPathFigure(
            large - small, pushes: Self.many - Self.few,
            versions: [
                "valgrind": Machine.version("valgrind", "--version"),
                "openssl": Machine.version("openssl", "version"),
                "nghttp2": Machine.version("h2load", "--version"),
                "swift": Machine.version("swift", "--version"),
            ])
    }

    private func profile(_ pushes: Int) async throws -> CallgrindProfile {
        let folder = try TestFolder()
        let program = folder.path + "/pushfarm"
        // Valgrind cannot read Swift's debug information. `strip` keeps the names of functions.
        let strip = try Child(
            "strip", "strip", ["--strip-debug", "-o", program, BuiltProgram.path], in: folder.path)
        guard try await strip.wait() == .exited(0) else { throw Overdue(description: strip.error) }
        let gateway = try await Gateway(
            in: folder.path, options: ["--no-first-stream-limit"], hasLedger: false)
        let farm = try await BenchFarm.start(
            BenchFarm.Options(
                workers: 1, program: program,
                prefix: [
                    "valgrind", "--tool=callgrind", "--trace-children=yes", "--quiet",
                    "--callgrind-out-file=\(folder.path)/callgrind.%p",
                ]), gateway, in: folder.path)
        let jobs = PreparedJobs("g", pushes: pushes, jobSize: Self.jobSize)
        // All jobs are in Redis before the gateway responds, so that there is always enough work.
        gateway.process.signal(SIGSTOP)
        try farm.push(jobs)
        try await eventually("the intake has read all jobs") {
            try farm.client.run("LLEN", "pushfarm:demo").integer == 0 && farm.open() == pushes
        }
        gateway.process.signal(SIGCONT)
        try await farm.settled(pushes)
        let jobRecord = try farm.jobRecord(of: jobs.ids)
        let complaints =
            jobRecord.complaints(pushes: pushes, atGateway: try gateway.counter("accepted"))
            + (try await farm.end())
        guard complaints.isEmpty else {
            throw Overdue(description: "under callgrind: \(complaints.joined(separator: ", "))")
        }
        let file = "\(folder.path)/callgrind.\(farm.processes.workers[0])"
        return CallgrindProfile(
            try String(contentsOfFile: file, encoding: .utf8), leavingOut: Self.byTheClock)
    }
}
