import FarmHarness
import Foundation
import Testing

/// `workers: auto` with real processes: the autoscaler adapts the number of workers to the load.
@Suite(
    .startsProcesses(limit: .seconds(300)), .enabled(if: ProcessInfo.processInfo.activeProcessorCount > 1))
struct AutoscalerTests {
    private static let jobTokens = 1_000
    private static let names = ["demo", "mail", "news"]

    @Test func `workers start under load and stop after the load, and every push arrives once`()
        async throws
    {
        // One simulated gateway can accept as many pushes as one worker sends. With three gateways one worker is the bottleneck.
        let folders = try Self.names.dropFirst().map { _ in try TestFolder() }
        var gateways: [Gateway] = []
        for folder in folders { gateways.append(try await Gateway(in: folder.path)) }
        let others = gateways.map(\.started)
        var options = Farm.Options()
        options.hasAutoWorkers = true
        options.apps = { first, _ in
            zip(Self.names, [first] + others).map { App($1, name: $0) }
        }
        let farm = try await Farm(options)
        try await eventually("one worker is ready") {
            try await farm.status().hosts.first?.workers.map(\.state) == ["ready"]
        }
        var rounds = 0
        try await eventually("there is a second worker, and it delivers", within: .seconds(120)) {
            let status = try await farm.status()
            // The work must last until the next status, which takes long while other tests run.
            if status.apps.contains(where: { $0.open + $0.inbox * Self.jobTokens < 40_000 }) {
                for round in rounds..<rounds + 8 {
                    for name in Self.names { try farm.push(Self.jobs(round), to: name) }
                }
                rounds += 8
            }
            let workers = status.hosts.first?.workers ?? []
            return workers.count > 1 && workers.allSatisfy { $0.shards > 0 && $0.delivered > 0 }
        }
        var delivered = 0
        for name in Self.names {
            let jobs = (0..<rounds).flatMap { Self.jobs($0) }
            let totals = try await farm.finished(jobs, app: name)
            #expect(totals.delivered == jobs.count * Self.jobTokens && totals.maybeDuplicated == 0)
            delivered += totals.delivered
        }
        try await eventually("one worker is left", within: .seconds(100)) {
            guard farm.workers.count == 1 else { return false }
            return try await farm.status().hosts.first?.workers.count == 1
        }
        let arrived = try ([farm.gateway] + gateways).reduce(0) { try $0 + $1.ledger().lines.count }
        #expect(arrived == delivered && delivered == rounds * 10 * Self.jobTokens * Self.names.count)
        let changes = try farm.events("workers.scaled")
        #expect(changes.first?["reason"] == "busy" && changes.last?["to"] == "1", "\(changes)")
        // The removed workers ended without a crash.
        let log = farm.coordinator.error
        #expect(!log.contains("how=killed") && !log.contains("batches reclaimed"), "\(log)")
    }

    private static func jobs(_ round: Int) -> [Job] {
        (0..<10).map { number in
            Job(
                id: "job-\(round)-\(number)",
                tokens: Tokens.make(jobTokens, seed: UInt64(round * 10 + number)))
        }
    }
}
