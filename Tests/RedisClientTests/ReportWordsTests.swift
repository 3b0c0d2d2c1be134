import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Checks which runs of positions a report may contain.
@Suite struct ReportWordsTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    /// - Parameter runs: the first and last position of each run.
    /// Tests can pass invalid runs, because the function does not check runs.
    private func report(_ batch: Checkout.Batch, _ runs: [(UInt8, UInt8)], open: String = "") throws
        -> RESPValue
    {
        var bytes: [UInt8] = []
        for (first, last) in runs { bytes += [0, first, 0, last] }
        let count = runs.reduce(0) { $0 + Int($1.1) - Int($1.0) + 1 }
        var command = RESPCommand("EVALSHA")
        command.append(try fixture.redis.hash(.report))
        for word in ["1", "{pushfarm:demo}:", "\(fixture.token)", "w1", "\(batch.id)", "1", "0", "1"] {
            command.append(word)
        }
        command.append(bytes)
        command.append(StoreFixture.delivered("a", max(1, count)))
        command.append(open)
        return try fixture.redis.run(command)
    }

    private func map(_ batch: Checkout.Batch) throws -> String? {
        let state = try fixture.redis.run("HGET", "{pushfarm:demo}:states", "\(batch.id)").text
        return state?.split(separator: "|", omittingEmptySubsequences: false).last.map(String.init)
    }

    @Test func `runs without ascending positions of the batch are refused without an effect`() throws {
        let batch = try fixture.held([("a", 5)])
        let before = try RedisDump(fixture.redis)
        for runs: [(UInt8, UInt8)] in [
            [(0, 1)], [(0, 0)], [(2, 1)], [(6, 6)], [(1, 6)], [(1, 200)], [(1, 2), (2, 3)], [(3, 4), (1, 2)],
            [(1, 2), (2, 2)], [(1, 2), (4, 3)], [(1, 1), (3, 6)],
        ] {
            let reply = try report(batch, runs)
            #expect(reply.error?.message.contains("RUNS of \(batch.id)") == true, "\(runs): \(reply)")
            #expect(try RedisDump(fixture.redis) == before, "\(runs)")
        }
    }

    @Test func `a run does not overlap positions that were handed over`() throws {
        let batch = try fixture.held([("a", 9)])
        #expect(try report(batch, [(4, 4)]).error == nil)
        #expect(try map(batch) == "...x.....")
        for runs: [(UInt8, UInt8)] in [
            [(4, 4)], [(3, 4)], [(4, 5)], [(1, 9)], [(1, 2), (4, 6)], [(1, 1), (3, 4)],
        ] {
            let reply = try report(batch, runs)
            #expect(reply.array?.first?.text == "...x.....", "\(runs): \(reply)")
        }
        #expect(try map(batch) == "...x.....")
        #expect(try report(batch, [(2, 2), (3, 3), (5, 6), (8, 8)]).error == nil)
        #expect(try map(batch) == ".xxxxx.x.")
        #expect(try fixture.audit() == [])
    }

    @Test(arguments: [("3", false), ("", false), ("2", true), ("4", true), ("0", true)])
    func `the map is returned when the caller has another count`(open: String, comes: Bool) throws {
        let batch = try fixture.held([("a", 5)])
        let reply = try #require(report(batch, [(1, 1), (3, 3)], open: open).array)
        #expect(reply[0].integer == 3 && reply[1].integer == 5)
        #expect(reply.count == (comes ? 6 : 5))
        if comes { #expect(reply[5].text == "x.x..") }
    }
}
