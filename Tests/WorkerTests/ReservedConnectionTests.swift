import FarmHarness
import Foundation
import LoopTesting
import Testing

@testable import Worker

/// A `high` push does not wait behind the pushes that a campaign has sent to the gateway.
@Suite struct ReservedConnectionTests {
    private struct Line: Decodable {
        let connection: Int
        let token: String
    }

    /// For each connection, the number of its `high` pushes and the number of its other pushes.
    private static func connections(_ ledger: String, high: Set<Int>) throws -> (
        bulk: [Int: Int], high: [Int: Int]
    ) {
        var counts: (bulk: [Int: Int], high: [Int: Int]) = ([:], [:])
        for line in try String(contentsOfFile: ledger, encoding: .utf8).split(separator: "\n") {
            let push = try JSONDecoder().decode(Line.self, from: Data(line.utf8))
            let number = try #require(Int(push.token.suffix(4), radix: 16))
            if high.contains(number) {
                counts.high[push.connection, default: 0] += 1
            } else {
                counts.bulk[push.connection, default: 0] += 1
            }
        }
        return counts
    }

    @Test func `high has its own connection during a campaign`() async throws {
        let folder = try TestFolder()
        let ledger = "\(folder.path)/ledger"
        try await SenderFixture.run {
            $0.streams = 50
            $0.faults = ["latency 20ms"]
            $0.ledger = ledger
        } _: { farm in
            let campaign = Array(repeating: 250, count: 6)
            try await farm.submit(campaign, lane: .bulk)
            try farm.apply(most: 2)
            #expect(await until { farm.sender.pool.openStreams >= 50 })
            var high: Set<Int> = []
            for _ in 0..<20 {
                // The campaign lasts longer than the `high` pushes.
                if farm.pushes - Int(farm.sender.counts.delivered) < 1500 {
                    try await farm.submit(campaign, lane: .bulk)
                }
                high.formUnion(farm.pushes..<farm.pushes + 5)
                let before = farm.sender.counts.delivered
                try await farm.submit([5])
                #expect(await until { farm.sender.counts.delivered >= before + 5 })
            }
            #expect(farm.sender.pool.isMixed && farm.sender.pool.connections.count == 2)
            try await farm.finish()
            let counts = try Self.connections(ledger, high: high)
            #expect(counts.high.values.reduce(0, +) == 100)
            #expect(counts.bulk.values.reduce(0, +) == farm.pushes - 100)
            #expect(counts.bulk.count == 1, "bulk keeps to its connection")
            let calm = counts.high.filter { counts.bulk[$0.key] == nil }
            #expect(calm.values.reduce(0, +) >= 50, "and most messages go over the other one")
            farm.sender.pool.isMixed = false
            #expect(await until { farm.sender.pool.connections.count == 1 })
        }
    }

    @Test func `high and bulk share the connection when only one is allowed`() async throws {
        try await SenderFixture.run {
            $0.streams = 50
            $0.faults = ["latency 20ms"]
        } _: { farm in
            try await farm.submit([250, 250], lane: .bulk)
            try farm.apply()
            #expect(await until { farm.sender.pool.openStreams >= 50 })
            try await farm.submit([5])
            try await farm.finish()
            #expect(farm.counters.accepted == 505 && farm.counters.connections == 1)
        }
    }
}
