import FarmHarness
import Testing

extension Farm {
    /// Expects after a fault: every push arrived once, the coordinator did not restart, and the log has few lines.
    func expectExactlyOnce(
        _ jobs: [Job], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let totals = try await finished(jobs, sourceLocation: sourceLocation)
        let count = jobs.reduce(0) { $0 + $1.tokens.count }
        #expect(totals.delivered == count && totals.failed == 0, sourceLocation: sourceLocation)
        #expect(totals.maybeDuplicated == 0, sourceLocation: sourceLocation)
        let ledger = try gateway.ledger()
        #expect(
            ledger.lost(of: jobs.flatMap(\.tokens)) == 0 && ledger.doubles == 0,
            sourceLocation: sourceLocation)
        #expect(!coordinator.hasEnded, sourceLocation: sourceLocation)
        let lines = coordinator.error.split(separator: "\n").count
        #expect(lines < 100, "\(coordinator.error.suffix(3000))", sourceLocation: sourceLocation)
    }
}
