import BenchKit
import FarmBench
import FarmHarness
import Foundation
import Testing

/// Runs the built bench with a hundredth of its usual load.
/// Measured times mean nothing with such a load, but the counts must be right.
struct FarmBenchProgramTests {
    @Test func `an unknown case is reported with a list of the known cases`() async throws {
        let folder = try TestFolder()
        let program = URL(fileURLWithPath: BuiltProgram.path).deletingLastPathComponent().path + "/farm-bench"
        let child = try Child(
            "bench", program, ["quick", "keep=\(folder.path)", "only=worker,fram"], in: folder.path)
        #expect(try await child.wait() == .exited(2))
        #expect(child.output.contains("there are worker, farm, singles"))
    }

    @Test func `latencies and memory are measured without h2load`() async throws {
        let (end, report) = try await QuickBench.run("only=idle,memory")
        #expect(report.findings.map(\.key) == ["idle", "memory"])
        #expect(report.findings.allSatisfy { $0.broken.isEmpty }, "\(report.text)")
        #expect(end == .exited(report.missed.isEmpty ? 0 : 1))
        let latencies = report.findings[0].rounds[0].values
        #expect((latencies["p50"] ?? 0) > 0 && (latencies["p99"] ?? 0) >= (latencies["p50"] ?? 0))
        #expect((report.findings[1].rounds[0].values["redis"] ?? 0) > 32, "a token has 32 bytes")
    }
}

/// A short run of the bench.
enum QuickBench {
    static func run(_ words: String...) async throws -> (end: Child.End, report: BenchReport) {
        let folder = try TestFolder()
        let program = URL(fileURLWithPath: BuiltProgram.path).deletingLastPathComponent().path + "/farm-bench"
        let child = try Child(
            "bench", program, ["quick", "keep=\(folder.path)/kept"] + words, in: folder.path)
        let end = try await child.wait(within: .seconds(300))
        let data = FileManager.default.contents(atPath: folder.path + "/kept/bench.json")
        let report = try JSONDecoder().decode(
            BenchReport.self, from: #require(data, "\(end) \(child.output)\(child.error)"))
        return (end, report)
    }
}
