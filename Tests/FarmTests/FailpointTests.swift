import FarmHarness
import Foundation
import Testing

/// Failpoints: places at which a debug build can be made to fail.
@Suite(.startsProcesses(limit: .seconds(300))) struct FailpointTests {
    @Test func `workers fail at the named failpoints, as often as configured`() async throws {
        let marks = try TestFolder()
        let rules = [
            "answer:kill:0.01:1:2", "redis.report.before:drop:0.2:2:3", "redis.report.before:dup:0.2:3:3",
            "redis.checkout.after:drop:0.3:4:2", "redis.settle.after:drop:0.5:5:2",
        ]
        let farm = try await Farm(
            Farm.Options(
                faults: ["latency 5ms"],
                environment: Farm.failpoints(rules, marks: marks)))
        let tokens = Tokens.make(6_000)
        let jobs = Job.several("f", tokens, size: 500)
        try farm.push(jobs)
        let totals = try await farm.finished(jobs)
        #expect(totals.delivered == tokens.count && totals.failed == 0)
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: tokens) == 0)
        #expect(ledger.doubles <= totals.maybeDuplicated)
        let names = try FileManager.default.contentsOfDirectory(atPath: marks.path)
        for rule in rules {
            let words = rule.split(separator: ":")
            let found = names.count { $0.hasPrefix("\(words[0])-\(words[1]).") }
            #expect(found == Int(words[4]), "\(rule): \(names)")
        }
        #expect(!farm.coordinator.hasEnded)
    }
}
