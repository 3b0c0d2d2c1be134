/// A case of the bench, measured round by round.
package protocol BenchCase: Sendable {
    var key: String { get }
    var title: String { get }
    var measures: [Measure] { get }
    /// What does not change from round to round is measured once.
    var isOnce: Bool { get }
    /// A rehearsal checks that every token arrives once.
    var isRehearsed: Bool { get }

    /// - Parameter number: counted from 0.
    func round(_ number: Int, _ plan: BenchPlan, _ cores: Cores) async throws -> Round
}

extension BenchCase {
    package var isOnce: Bool { false }
    package var isRehearsed: Bool { false }
}

/// All there are.
package enum BenchCases {
    package static let all: [any BenchCase] = [
        Throughput.worker, Throughput.farm, Throughput.singles, Throughput.payloads, IdleLatency(),
        UrgentLatency(), SlowGateway.connections, Memory(), SlowGateway.workers,
    ]

    /// - Parameter keys: none is all.
    package static func named(_ keys: [String]) -> [any BenchCase] {
        all.filter { keys.isEmpty || keys.contains($0.key) }
    }
}
