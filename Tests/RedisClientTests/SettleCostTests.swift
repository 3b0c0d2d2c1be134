import Foundation
import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Measures what the guard of campaigns costs in the script `settle` (docs/internals/performance.md).
@Suite struct SettleCostTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let calls = environment["PUSHFARM_SETTLE_CALLS"].flatMap { Int($0) } ?? 0

    private enum Owner: String, CaseIterable {
        case jobs = "jobs, no campaign in the app"
        case jobsBesideCampaign = "jobs, a campaign in the app"
        case campaigns = "campaigns"
    }

    /// Each round has one call of each kind, so that other programs on the machine disturb all kinds alike.
    @Test(.enabled(if: calls > 0), arguments: [(1, 256), (16, 256), (64, 1)])
    func `the time of a call`(entries: Int, pushes: Int) throws {
        let fixtures = try Owner.allCases.map { (owner: $0, fixture: try Self.fixture($0, jobs: entries)) }
        var times: [Owner: [Int]] = [:]
        for _ in 0..<Self.calls {
            for (owner, fixture) in fixtures {
                times[owner, default: []].append(try Self.settle(on: fixture, entries, pushes))
            }
        }
        for owner in Owner.allCases {
            let sorted = times[owner, default: []].sorted()
            print(
                "\(entries) entries of \(pushes): \(owner.rawValue): least \(sorted[0]) µs, "
                    + "median \(sorted[sorted.count / 2]) µs")
        }
    }

    /// A farm with jobs that have many pushes in flight.
    private static func fixture(_ owner: Owner, jobs: Int) throws -> StoreFixture {
        let fixture = try StoreFixture()
        let prefix = "{pushfarm:demo}:"
        if owner == .jobsBesideCampaign { try fixture.runCampaign("other") }
        for number in 0..<jobs {
            if owner == .campaigns { try fixture.runCampaign("c\(number)") }
            try fixture.redis.run(
                "HSET", "\(prefix)job:c\(number)", "state", "open", "accepted", "1000000000", "submitted",
                "1000000000", "in_flight", "1000000000")
            try fixture.redis.run("ZADD", "\(prefix)jobs", "1", "c\(number)")
        }
        return fixture
    }

    /// Settles entries of different jobs in one call.
    ///
    /// - Returns: the time that Redis needed for the call, in microseconds.
    private static func settle(on fixture: StoreFixture, _ entries: Int, _ pushes: Int) throws -> Int {
        for number in 0..<entries {
            var command = RESPCommand("XADD", key: Array("{pushfarm:demo}:results".utf8))
            for word in ["*", "r"] { command.append(word) }
            command.append(StoreFixture.delivered("c\(number)", pushes))
            try fixture.redis.run(command)
        }
        let settlements = try fixture.results().enumerated().map { number, entry in
            StoreFixture.settlement(entry, "c\(number)", delivered: pushes)
        }
        let before = try microseconds(fixture.redis)
        let reply = try fixture.perform(Settle(settlements))
        #expect(reply.settledCount == entries)
        return try microseconds(fixture.redis) - before
    }

    /// The time of all calls of scripts since the start of Redis.
    private static func microseconds(_ redis: PrivateRedis) throws -> Int {
        let lines = try #require(try redis.run("INFO", "commandstats").text).split(
            whereSeparator: \.isNewline)
        let line = try #require(lines.first { $0.hasPrefix("cmdstat_evalsha:") })
        let field = try #require(line.split(separator: ",").first { $0.hasPrefix("usec=") })
        return try #require(Int(field.dropFirst(5)))
    }
}
