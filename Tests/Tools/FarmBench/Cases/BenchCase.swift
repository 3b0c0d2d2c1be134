/// A case of the bench, measured round by round.
package protocol BenchCase: Sendable {
    var key: String { get }
    var title: String { get }
    var measures: [Measure] { get }
    /// Whether the case is measured once, because its values are the same in each round.
    var isOnce: Bool { get }
    /// Whether a rehearsal checks that every token arrives once.
    var isRehearsed: Bool { get }

    /// Runs and measures one round.
    /// - Parameter number: the number of the round, counted from 0.
    func round(_ number: Int, _ plan: BenchPlan, _ cores: Cores) async throws -> Round
}

extension BenchCase {
    package var isOnce: Bool { false }
    package var isRehearsed: Bool { false }
}

/// The list of all cases.
package enum BenchCases {
    package static let all: [any BenchCase] = [
        Throughput.worker, Throughput.farm, Throughput.singles, Throughput.payloads, Throughput.values,
        IdleLatency(), UrgentLatency(), SlowGateway.connections, Memory(), SlowGateway.workers,
        StoredDevices(), RegistrationStorm(), FarGateway(),
    ]

    /// - Parameter keys: the keys of the wanted cases. An empty list means all cases.
    package static func named(_ keys: [String]) -> [any BenchCase] {
        all.filter { keys.isEmpty || keys.contains($0.key) }
    }
}
