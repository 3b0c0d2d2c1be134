import FarmHarness
import Foundation
import Testing

/// A token's pushes arrive in the order of their jobs, over any number of connections.
@Suite(.startsProcesses) struct OrderTests {
    /// The gateway's response time in milliseconds. A measured time may be up to two milliseconds shorter: clocks count whole
    /// milliseconds, and timers may fire one millisecond early.
    private static let latency: Int64 = 20

    @Test func `pushes to one token never overtake each other on several connections`() async throws {
        let farm = try await Farm(
            .init(
                workers: 1, faults: ["latency \(Self.latency)ms", "streams 10"],
                appLines: ["connections: 4"]))
        let tokens = Tokens.make(3_000)
        // Several connections share each large job, and small jobs follow in quick succession.
        let jobs = (0..<60).map { number in
            Job(
                id: "j\(number)",
                tokens: number % 20 == 0
                    ? tokens : Array(tokens[(number * 7) % 50..<(number * 7) % 50 + 60]),
                fields: #""collapse_id":"\#(number)""#)
        }
        for job in jobs { try farm.push([job]) }
        let count = jobs.reduce(0) { $0 + $1.tokens.count }
        #expect(try await farm.finished(jobs).delivered == count)
        let lines = try farm.gateway.ledger().lines
        #expect(lines.count == count && Set(lines.map(\.connection)).count >= 4)
        var latest: [String: Ledger.Line] = [:]
        var (outOfOrder, crossings) = (0, 0)
        for line in lines {
            let token = try #require(line.token)
            defer { latest[token] = line }
            guard let before = latest[token] else { continue }
            let (job, last) = (Int(line.collapseId ?? ""), Int(before.collapseId ?? ""))
            if try #require(job) <= #require(last) { outOfOrder += 1 }
            if line.connection != before.connection, line.time - before.time < Self.latency - 2 {
                crossings += 1
            }
        }
        #expect(outOfOrder == 0 && crossings == 0)
        let shares = Dictionary(grouping: lines, by: \.connection).values.map(\.count)
        #expect(try #require(shares.min()) * 8 > count / 4, "each connection has its part: \(shares)")
    }
}
