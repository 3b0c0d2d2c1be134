import PushModel
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Checks checkout, report and putback.
@Suite struct DeliveryTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    @Test func `a checkout grants at most the credit and stores it first`() throws {
        try fixture.split([("j1", 6), ("j2", 4)])
        let reply = try fixture.checkout(credit: 7)
        let batch = try #require(reply.batches.first)
        #expect(batch.delivery == 1 && batch.granted == 7 && batch.suspicion == nil)
        #expect(batch.map == Array("..........".utf8))
        #expect(try Batch(decoding: batch.body).pushes.count == 10)
        #expect(reply.fenced.isEmpty && reply.pauseReason == nil)
        #expect(try fixture.jobRecord("j1").inFlight == 6 && fixture.jobRecord("j2").inFlight == 4)
        #expect(try fixture.audit() == [])
    }

    @Test func `a batch with a lost checkout is adopted by the same worker only`() throws {
        try fixture.split([("j1", 4)])
        let lost = try fixture.checkout().batches
        let again = try fixture.checkout().batches
        #expect(again.map(\.id) == lost.map(\.id) && again.map(\.delivery) == [1])
        #expect(try fixture.checkout(known: again.map(\.id)).batches.isEmpty)
        #expect(try fixture.checkout(known: nil).batches.isEmpty)
        #expect(try fixture.checkout("w2").batches.isEmpty)
        #expect(try fixture.jobRecord("j1").inFlight == 4)
        #expect(try fixture.audit() == [])
    }

    @Test func `a report about a batch without a body never has an effect`() throws {
        try fixture.split([("j1", 4)])
        let batch = try #require(try fixture.checkout().batches.first)
        try fixture.perform(
            PutBack(token: fixture.token, worker: "w1", batches: [(batch.id, batch.delivery)]))
        try fixture.redis.run("HDEL", "{pushfarm:demo}:batches", "\(batch.id)")
        for _ in 0..<2 {
            #expect(throws: StoreError.self) {
                try fixture.report(batch, 0..<2, entry: StoreFixture.delivered("j1", 2))
            }
        }
        #expect(try fixture.results().isEmpty && fixture.jobRecord("j1").inFlight == 0)
    }

    @Test func `high is checked out before bulk and shards take turns`() throws {
        for (step, shard, lane) in [
            (1, 0, Lane.bulk), (2, 0, .high), (3, 0, .high), (4, 1, .high), (5, 1, .bulk),
        ] {
            try fixture.split(step: step, [("j\(step)", 1)], shard: shard, lane: lane)
        }
        let reply = try fixture.checkout(most: 4)
        #expect(try StoreFixture.jobs(reply.batches) == ["j2", "j4", "j3", "j1"])
        #expect(
            reply.batches.map(\.id.lane) == [.high, .high, .high, .bulk] && reply.batches[1].id.shard == 1)
        #expect(reply.nonEmptyShards.contains(1))
        #expect(try StoreFixture.jobs(fixture.checkout(known: nil).batches) == ["j5"])
        #expect(try fixture.audit() == [])
    }

    @Test func `a shard of another owner is named and the others continue`() throws {
        try fixture.split(step: 1, [("j1", 1)], shard: 0)
        try fixture.split(step: 2, [("j2", 1)], shard: 1)
        _ = try fixture.perform(
            AcquireLeases(
                nonce: "n2", host: "h2", lifetime: .seconds(9), predecessor: "n1", leases: [.shard(0)])
        )
        let reply = try fixture.checkout()
        #expect(reply.fenced == [0] && reply.batches.map(\.id.shard) == [1])
        #expect(try fixture.audit() == [])
    }

    @Test func `a paused app gives no new batch except lost ones`() throws {
        try fixture.split(step: 1, [("j1", 1)])
        let lost = try fixture.checkout().batches
        try fixture.split(step: 2, [("j2", 1)])
        #expect(try fixture.perform(PauseApp(reason: "InvalidProviderToken", fingerprint: "abc")))
        #expect(try !fixture.perform(PauseApp(reason: "InvalidProviderToken", fingerprint: "abc")))
        let paused = try fixture.checkout()
        #expect(paused.pauseReason == "InvalidProviderToken" && paused.batches.map(\.id) == lost.map(\.id))
        let pause = try #require(try fixture.perform(ReadAppState()).pause)
        #expect(pause.reason == "InvalidProviderToken" && pause.fingerprint == "abc" && pause.since > 0)
        #expect(try fixture.perform(ResumeApp()) == .resumed && fixture.perform(ResumeApp()) == .wasNotPaused)
        #expect(try fixture.perform(ReadAppState()).pause == nil)
        #expect(try fixture.checkout(known: nil).batches.count == 1)
        #expect(try fixture.events().map { $0["type"] }.suffix(2) == ["app.paused", "app.resumed"])
    }

    @Test func `a report is handed over once`() throws {
        try fixture.split([("j1", 4)])
        let batch = try #require(try fixture.checkout(credit: 2).batches.first)
        let entry = StoreFixture.delivered("j1", 2)
        #expect(
            try fixture.report(batch, 0..<2, entry: entry, wanted: 4)
                == .taken(.init(open: 2, granted: 4, isDone: false)))
        #expect(
            try fixture.report(batch, 0..<2, entry: entry, wanted: 4)
                == .map(.init(positions: Array("xx..".utf8), granted: 4)))
        #expect(try fixture.audit() == [])
        #expect(
            try fixture.report(batch, 2..<4, entry: entry)
                == .taken(.init(open: 0, granted: 4, isDone: true)))
        // The repeated report gets the reply "done":
        // Redis has deleted the batch, because the results stream contains the outcomes of all its pushes.
        #expect(
            try fixture.report(batch, 2..<4, entry: entry)
                == .taken(.init(open: 0, granted: 0, isDone: true)))
        #expect(try fixture.results().count == 2)
        #expect(try fixture.audit() == [])
    }

    @Test func `credit can be requested without a report`() throws {
        try fixture.split([("j1", 4)])
        #expect(try fixture.checkout(credit: 0).batches.isEmpty)
        let batch = try #require(try fixture.checkout(credit: 1).batches.first)
        #expect(batch.granted == 1)
        let ask = Report(
            token: fixture.token, worker: "w1", batch: batch.id, delivery: 1, wanted: 3, hasOnlyFacts: true,
            runs: PositionRuns(), entry: [])
        let state = Report.State(open: 4, granted: 3, isDone: false)
        #expect(try fixture.perform(ask) == .taken(state))
        #expect(try fixture.perform(ask) == .taken(state))
        #expect(try fixture.results().isEmpty)
    }

    @Test func `several runs update the map correctly`() throws {
        try fixture.split([("j1", 300)])
        let batch = try #require(try fixture.checkout(credit: 300).batches.first)
        var runs = PositionRuns()
        for range in [0..<1, 1..<3, 10..<20, 255..<260, 299..<300] { runs.append(range) }
        var expected = [UInt8](repeating: UInt8(ascii: "."), count: 300)
        for range in [0..<3, 10..<20, 255..<260, 299..<300] {
            for position in range { expected[position] = UInt8(ascii: "x") }
        }
        let report = Report(
            token: fixture.token, worker: "w1", batch: batch.id, delivery: 1, wanted: 0, hasOnlyFacts: true,
            runs: runs, entry: StoreFixture.delivered("j1", runs.count))
        #expect(
            try fixture.perform(report)
                == .taken(.init(open: 300 - 19, granted: 300, isDone: false)))
        #expect(try fixture.perform(report) == .map(.init(positions: expected, granted: 300)))
        #expect(try fixture.audit() == [])
    }

    @Test func `stale final facts are accepted and stale decisions are not`() throws {
        try fixture.split([("j1", 4)])
        let batch = try #require(try fixture.checkout().batches.first)
        _ = try fixture.perform(Reclaim(.gone(["w1"]), shards: [(1, fixture.token)]))
        #expect(try fixture.jobRecord("j1").inFlight == 0)
        let entry = StoreFixture.delivered("j1", 1)
        #expect(
            try fixture.report(batch, 0..<1, entry: entry, facts: false)
                == .stale(.init(open: 4, granted: 0, isDone: false, staleness: .redelivered)))
        #expect(
            try fixture.report(batch, 0..<1, entry: entry, wanted: 4)
                == .taken(.init(open: 3, granted: 0, isDone: false, staleness: .redelivered)))
        #expect(try fixture.jobRecord("j1").inFlight == 1)
        #expect(try fixture.audit() == [])
        // Another worker checks out the batch. The old worker then reports the remaining outcomes. These reports end the
        // batch, no matter which list contains it.
        let second = try #require(try fixture.checkout("w2").batches.first)
        #expect(second.delivery == 2 && second.map == Array("x...".utf8))
        #expect(
            try fixture.report(batch, 1..<2, entry: entry)
                == .taken(.init(open: 2, granted: 4, isDone: false, staleness: .redelivered)))
        #expect(try fixture.audit() == [])
        _ = try fixture.perform(Reclaim(.gone(["w2"]), shards: [(1, fixture.token)]))
        #expect(
            try fixture.report(batch, 2..<4, entry: StoreFixture.delivered("j1", 2))
                == .taken(.init(open: 0, granted: 0, isDone: true, staleness: .redelivered)))
        #expect(try fixture.audit() == [])
        #expect(try fixture.perform(ReadDepths(shards: 4)).shards[1] == .init(high: 0, bulk: 0, flight: 0))
    }

    @Test func `returned batches are first again, in order and unsent`() throws {
        for step in 1...3 { try fixture.split(step: step, [("j\(step)", 2)]) }
        let batches = try fixture.checkout(most: 2).batches
        _ = try fixture.report(batches[0], 0..<1, entry: StoreFixture.delivered("j1", 1))
        let back = PutBack(
            token: fixture.token, worker: "w1", batches: batches.reversed().map { ($0.id, $0.delivery) })
        #expect(try fixture.perform(back) == 2)
        #expect(try fixture.perform(back) == 0)
        #expect(try fixture.audit() == [])
        #expect(try fixture.jobRecord("j1").inFlight == 1 && fixture.jobRecord("j1").queued == 1)
        let again = try fixture.checkout().batches
        #expect(try StoreFixture.jobs(again) == ["j1", "j2", "j3"])
        #expect(again.map(\.delivery) == [2, 2, 1] && again.allSatisfy { $0.suspicion == nil })
        let foreign = PutBack(
            token: FenceToken(Array("9:x:y".utf8)), worker: "w1",
            batches: batches.map { ($0.id, $0.delivery) })
        #expect(throws: StoreError.fenced(lease: "01")) { try fixture.perform(foreign) }
    }

    @Test func `a late return stays behind older batches whoever returns it`() throws {
        for step in 1...4 { try fixture.split(step: step, [("j\(step)", 2)]) }
        let batches = try fixture.checkout(most: 3).batches
        for batch in [batches[1], batches[0]] {
            let back = PutBack(token: fixture.token, worker: "w1", batches: [(batch.id, batch.delivery)])
            #expect(try fixture.perform(back) == 1)
        }
        let gone = Reclaim(.gone(["w1"]), shards: [(1, fixture.token)])
        #expect(try fixture.perform(gone).putBack == 1)
        #expect(try StoreFixture.jobs(fixture.checkout(most: 1).batches) == ["j1"])
        #expect(try StoreFixture.jobs(fixture.checkout("w2").batches) == ["j2", "j3", "j4"])
        #expect(try fixture.audit() == [])
    }

    @Test func `a worker cannot return a batch that another worker has`() throws {
        try fixture.split([("j1", 2)])
        let batch = try #require(try fixture.checkout("w1").batches.first)
        _ = try fixture.perform(Reclaim(.gone(["w1"]), shards: [(1, fixture.token)]))
        #expect(try fixture.checkout("w2").batches.map(\.delivery) == [2])
        for worker in ["w1", "w2"] {
            let back = PutBack(token: fixture.token, worker: worker, batches: [(batch.id, batch.delivery)])
            #expect(try fixture.perform(back) == 0)
        }
        #expect(try fixture.jobRecord("j1").inFlight == 2)
        #expect(try fixture.audit() == [])
    }
}
