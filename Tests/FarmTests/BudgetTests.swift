import FarmHarness
import Foundation
import Testing

/// Checks that the whole farm keeps its budgets, whichever workers serve its shards.
@Suite(.startsProcesses) struct BudgetTests {
    @Test func `two workers together reach the farm's rate and do not exceed it`() async throws {
        let farm = try await Farm(.init(workers: 2, appLines: ["budget: { max_rate: 300 }"]))
        let job = Job(id: "many", tokens: Tokens.make(1_800))
        try farm.push([job])
        #expect(try await farm.finished("many").delivered == 1_800)
        let lines = try farm.gateway.ledger().lines
        // A burst may have as many pushes as the rate allows in a twentieth of a second.
        Rate.expect(lines.map(\.time), atMost: 300, burst: 15)
        let workers = try await farm.status().hosts.first?.workers ?? []
        #expect(workers.count == 2 && workers.allSatisfy { $0.delivered > 0 })
    }

    @Test func `workers divide the connections, and a budget with too few is reported`() async throws {
        let farm = try await Farm(
            .init(
                workers: 2, faults: ["latency 50ms"], simulatorOptions: ["--streams", "20"],
                appLines: ["budget: { max_conns: 1 }", "min_conns: 4"]))
        let jobs = Job.several("few", Tokens.make(4_000), size: 1000)
        try farm.push(jobs)
        try await farm.expectExactlyOnce(jobs)
        // Each of the two workers needs a connection, so the farm has one connection more than its budget of one.
        #expect(try farm.gateway.counter("connections") == 2)
        let event = try await farm.event("budget.too_few_connections")
        #expect(event["reason"] == "max_conns is less than the workers")
    }
}

@Suite(.startsProcesses(limit: .seconds(300))) struct HostBudgetTests {
    @Test func `the farm's rate holds while hosts come and go`() async throws {
        let farm = try await Farm(
            hosts: Farm.twoHosts, Farm.Options(workers: 2, appLines: ["budget: { max_rate: 1000 }"]))
        try farm.start("alpha")
        try await farm.shared(by: ["alpha"], within: .seconds(20))
        // The load pushes more than the rate allows, so there is always a backlog.
        let load = try Load(farm, every: .milliseconds(300))
        try await load.more(2)
        try farm.start("beta")
        try await farm.shared(by: ["alpha", "beta"])
        try await load.more(2)
        farm.coordinator("beta").signal(SIGTERM)
        #expect(try await farm.coordinator("beta").wait(within: .seconds(30)) == .exited(0))
        try await farm.shared(by: ["alpha"], within: .seconds(15))
        try await load.more(1)
        try await load.expectExactlyOnce()
        Rate.expect(try farm.gateway.ledger().lines.map(\.time), atMost: 1000, burst: 50)
    }
}
