import FarmHarness
import Foundation
import Testing

/// Large jobs do not delay small or urgent jobs.
@Suite(.startsProcesses) struct FairnessTests {
    /// A gateway that accepts about 5,000 pushes a second on any machine, so that a delayed test still finds the backlog.
    private static let pace = ["latency 40ms", "streams 200"]

    /// The number of pushes to tokens outside `tokens` that reached the gateway after line `before` of the ledger and before the
    /// last push to `tokens`.
    private static func overtaken(_ farm: Farm, by tokens: [String], since before: Int) throws -> Int {
        let wanted = Set(tokens)
        let lines = try farm.gateway.ledger().lines
        let last = try #require(lines.lastIndex { wanted.contains($0.token ?? "") })
        return last - before
    }

    @Test func `one app's backlog does not delay ten pushes of another app`() async throws {
        let farm = try await Farm(
            .init(
                workers: 1, faults: Self.pace,
                apps: { started, _ in
                    [App(started, name: "demo"), App(started, name: "other")]
                }))
        let backlog = Job.several("many", Tokens.make(40_000), size: 1000)
        try farm.push(backlog)
        try await farm.gateway.requests(4_000)
        let few = Tokens.make(10, seed: 5)
        try farm.push([Job(id: "few", tokens: few)], to: "other")
        let before = try farm.gateway.requestCount()
        #expect(try await farm.finished("few", app: "other").delivered == 10)
        try await farm.expectExactlyOnce(backlog)
        #expect(try Self.overtaken(farm, by: few, since: before) < 15_000)
    }

    @Test func `bulk pushes do not delay high pushes of the same app`() async throws {
        let farm = try await Farm(.init(workers: 1, faults: Self.pace))
        let campaign = Job.several("bulk", Tokens.make(40_000), size: 1000, fields: #""lane":"bulk""#)
        try farm.push(campaign)
        try await farm.gateway.requests(4_000)
        for round in 0..<3 {
            let few = Tokens.make(10, seed: UInt64(7 + round))
            try farm.push([Job(id: "urgent-\(round)", tokens: few)])
            let before = try farm.gateway.requestCount()
            #expect(try await farm.finished("urgent-\(round)").delivered == 10)
            #expect(try Self.overtaken(farm, by: few, since: before) < 8_000)
        }
        #expect(try await farm.finished(campaign).delivered == 40_000)
    }
}
