import BenchKit
import FarmBench
import Foundation
import Testing

/// Runs the bench with h2load. `make test-outside` installs h2load.
struct LoadToolTests {
    private static let hasTool = ["/usr/bin/h2load", "/usr/local/bin/h2load"].contains {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    @Test(.enabled(if: hasTool)) func `the farm and h2load are measured side by side`() async throws {
        let (end, report) = try await QuickBench.run("only=worker")
        let finding = try #require(report.findings.first)
        #expect(report.findings.count == 1 && finding.broken.isEmpty)
        #expect(end == .exited(report.missed.isEmpty ? 0 : 1))
        let values = try #require(finding.rounds.first).values
        for name in ["worker", "coordinator", "intake", "redis", "gateway", "rate", "h2load's rate"] {
            #expect((values[name] ?? 0) > 0, "\(name)")
        }
        // The time to read the token list is subtracted. With so few requests the result may be negative.
        #expect(values["h2load"] != nil)
    }
}
