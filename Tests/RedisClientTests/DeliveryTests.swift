import PushModel
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Checkout, report, put back.
@Suite struct DeliveryTests {
    let desk: Desk
    init() throws { desk = try Desk() }

    @Test func `grants no more than the credit, and writes it down first`() throws {
        try desk.split([("j1", 6), ("j2", 4)])
        let reply = try desk.checkout(credit: 7)
        let batch = try #require(reply.batches.first)
        #expect(batch.delivery == 1 && batch.granted == 7 && batch.suspicion == nil)
        #expect(batch.map == Array("..........".utf8))
        #expect(try Batch(decoding: batch.body).pushes.count == 10)
        #expect(reply.fenced.isEmpty && reply.pauseReason == nil)
        #expect(try desk.jobRecord("j1").inFlight == 6 && desk.jobRecord("j2").inFlight == 4)
        #expect(try desk.audit() == [])
    }

    @Test func `a batch whose checkout was lost is adopted, and no other worker gets it`() throws {
        try desk.split([("j1", 4)])
        let lost = try desk.checkout().batches
        let again = try desk.checkout().batches
        #expect(again.map(\.id) == lost.map(\.id) && again.map(\.delivery) == [1])
        #expect(try desk.checkout(known: again.map(\.id)).batches.isEmpty)
        #expect(try desk.checkout(known: nil).batches.isEmpty)
        #expect(try desk.checkout("w2").batches.isEmpty)
        #expect(try desk.jobRecord("j1").inFlight == 4)
        #expect(try desk.audit() == [])
    }

    @Test func `a fact about a batch whose body is gone changes nothing, however often it is told`() throws {
        try desk.split([("j1", 4)])
        let batch = try #require(try desk.checkout().batches.first)
        try desk.perform(PutBack(token: desk.token, worker: "w1", batches: [(batch.id, batch.delivery)]))
        try desk.redis.run("HDEL", "{pushfarm:demo}:batches", "\(batch.id)")
        for _ in 0..<2 {
            #expect(throws: StoreError.self) {
                try desk.report(batch, 0..<2, entry: Desk.delivered("j1", 2))
            }
        }
        #expect(try desk.results().isEmpty && desk.jobRecord("j1").inFlight == 0)
    }

    @Test func `high goes before bulk, and shards in turns`() throws {
        for (step, shard, lane) in [
            (1, 0, Lane.bulk), (2, 0, .high), (3, 0, .high), (4, 1, .high), (5, 1, .bulk),
        ] {
            try desk.split(step: step, [("j\(step)", 1)], shard: shard, lane: lane)
        }
        let reply = try desk.checkout(most: 4)
        #expect(try Desk.jobs(reply.batches) == ["j2", "j4", "j3", "j1"])
        #expect(
            reply.batches.map(\.id.lane) == [.high, .high, .high, .bulk] && reply.batches[1].id.shard == 1)
        #expect(reply.left.contains(1))
        #expect(try Desk.jobs(desk.checkout(known: nil).batches) == ["j5"])
        #expect(try desk.audit() == [])
    }

    @Test func `a shard that is not ours is named, the others go on`() throws {
        try desk.split(step: 1, [("j1", 1)], shard: 0)
        try desk.split(step: 2, [("j2", 1)], shard: 1)
        _ = try desk.perform(
            AcquireLeases(nonce: "n2", host: "h2", lease: .seconds(9), predecessor: "n1", fields: [.shard(0)])
        )
        let reply = try desk.checkout()
        #expect(reply.fenced == [0] && reply.batches.map(\.id.shard) == [1])
        #expect(try desk.audit() == [])
    }

    @Test func `a paused app gives nothing new, but what was lost`() throws {
        try desk.split(step: 1, [("j1", 1)])
        let lost = try desk.checkout().batches
        try desk.split(step: 2, [("j2", 1)])
        #expect(try desk.perform(Pause(reason: "InvalidProviderToken", fingerprint: "abc")))
        #expect(try !desk.perform(Pause(reason: "InvalidProviderToken", fingerprint: "abc")))
        let paused = try desk.checkout()
        #expect(paused.pauseReason == "InvalidProviderToken" && paused.batches.map(\.id) == lost.map(\.id))
        let gate = try #require(try desk.perform(ReadStanding()).pause)
        #expect(gate.reason == "InvalidProviderToken" && gate.fingerprint == "abc" && gate.since > 0)
        #expect(try desk.perform(Resume()) == .resumed && desk.perform(Resume()) == .wasNotPaused)
        #expect(try desk.perform(ReadStanding()).pause == nil)
        #expect(try desk.checkout(known: nil).batches.count == 1)
        #expect(try desk.events().map { $0["type"] }.suffix(2) == ["app.paused", "app.resumed"])
    }

    @Test func `a report is handed over once`() throws {
        try desk.split([("j1", 4)])
        let batch = try #require(try desk.checkout(credit: 2).batches.first)
        let entry = Desk.delivered("j1", 2)
        #expect(
            try desk.report(batch, 0..<2, entry: entry, wanted: 4)
                == .taken(.init(open: 2, granted: 4, isDone: false)))
        #expect(
            try desk.report(batch, 0..<2, entry: entry, wanted: 4)
                == .map(.init(positions: Array("xx..".utf8), granted: 4)))
        #expect(try desk.audit() == [])
        #expect(
            try desk.report(batch, 2..<4, entry: entry)
                == .taken(.init(open: 0, granted: 4, isDone: true)))
        // The batch is gone: whatever was said about it has been handed over.
        #expect(
            try desk.report(batch, 2..<4, entry: entry)
                == .taken(.init(open: 0, granted: 0, isDone: true)))
        #expect(try desk.results().count == 2)
        #expect(try desk.audit() == [])
    }

    @Test func `credit alone can be asked for`() throws {
        try desk.split([("j1", 4)])
        #expect(try desk.checkout(credit: 0).batches.isEmpty)
        let batch = try #require(try desk.checkout(credit: 1).batches.first)
        #expect(batch.granted == 1)
        let ask = Report(
            token: desk.token, worker: "w1", batch: batch.id, delivery: 1, wanted: 3, isFactsOnly: true,
            runs: PositionRuns(), entry: [])
        let state = Report.State(open: 4, granted: 3, isDone: false)
        #expect(try desk.perform(ask) == .taken(state))
        #expect(try desk.perform(ask) == .taken(state))
        #expect(try desk.results().isEmpty)
    }

    @Test func `several runs leave the map as they say`() throws {
        try desk.split([("j1", 300)])
        let batch = try #require(try desk.checkout(credit: 300).batches.first)
        var runs = PositionRuns()
        for range in [0..<1, 1..<3, 10..<20, 255..<260, 299..<300] { runs.append(range) }
        var expected = [UInt8](repeating: UInt8(ascii: "."), count: 300)
        for range in [0..<3, 10..<20, 255..<260, 299..<300] {
            for position in range { expected[position] = UInt8(ascii: "x") }
        }
        let report = Report(
            token: desk.token, worker: "w1", batch: batch.id, delivery: 1, wanted: 0, isFactsOnly: true,
            runs: runs, entry: Desk.delivered("j1", runs.count))
        #expect(
            try desk.perform(report)
                == .taken(.init(open: 300 - 19, granted: 300, isDone: false)))
        #expect(try desk.perform(report) == .map(.init(positions: expected, granted: 300)))
        #expect(try desk.audit() == [])
    }

    @Test func `stale facts are taken, stale decisions are not`() throws {
        try desk.split([("j1", 4)])
        let batch = try #require(try desk.checkout().batches.first)
        _ = try desk.perform(Reclaim(.gone(["w1"]), shards: [(1, desk.token)]))
        #expect(try desk.jobRecord("j1").inFlight == 0)
        let entry = Desk.delivered("j1", 1)
        #expect(
            try desk.report(batch, 0..<1, entry: entry, facts: false)
                == .stale(.init(open: 4, granted: 0, isDone: false, staleness: .redelivered)))
        #expect(
            try desk.report(batch, 0..<1, entry: entry, wanted: 4)
                == .taken(.init(open: 3, granted: 0, isDone: false, staleness: .redelivered)))
        #expect(try desk.jobRecord("j1").inFlight == 1)
        #expect(try desk.audit() == [])
        // Another worker has it now; the rest of the old one's facts end the batch wherever it is.
        let second = try #require(try desk.checkout("w2").batches.first)
        #expect(second.delivery == 2 && second.map == Array("x...".utf8))
        #expect(
            try desk.report(batch, 1..<2, entry: entry)
                == .taken(.init(open: 2, granted: 4, isDone: false, staleness: .redelivered)))
        #expect(try desk.audit() == [])
        _ = try desk.perform(Reclaim(.gone(["w2"]), shards: [(1, desk.token)]))
        #expect(
            try desk.report(batch, 2..<4, entry: Desk.delivered("j1", 2))
                == .taken(.init(open: 0, granted: 0, isDone: true, staleness: .redelivered)))
        #expect(try desk.audit() == [])
        #expect(try desk.perform(ReadDepths(shards: 4)).shards[1] == .init(high: 0, bulk: 0, flight: 0))
    }

    @Test func `what is put back stands first again, in order, and was not sent`() throws {
        for step in 1...3 { try desk.split(step: step, [("j\(step)", 2)]) }
        let batches = try desk.checkout(most: 2).batches
        _ = try desk.report(batches[0], 0..<1, entry: Desk.delivered("j1", 1))
        let back = PutBack(
            token: desk.token, worker: "w1", batches: batches.reversed().map { ($0.id, $0.delivery) })
        #expect(try desk.perform(back) == 2)
        #expect(try desk.perform(back) == 0)
        #expect(try desk.audit() == [])
        #expect(try desk.jobRecord("j1").inFlight == 1 && desk.jobRecord("j1").queued == 1)
        let again = try desk.checkout().batches
        #expect(try Desk.jobs(again) == ["j1", "j2", "j3"])
        #expect(again.map(\.delivery) == [2, 2, 1] && again.allSatisfy { $0.suspicion == nil })
        let foreign = PutBack(
            token: FenceToken(Array("9:x:y".utf8)), worker: "w1",
            batches: batches.map { ($0.id, $0.delivery) })
        #expect(throws: StoreError.fenced(field: "01")) { try desk.perform(foreign) }
    }

    @Test func `what is put back later stands behind what is older, whoever puts it back`() throws {
        for step in 1...4 { try desk.split(step: step, [("j\(step)", 2)]) }
        let batches = try desk.checkout(most: 3).batches
        for batch in [batches[1], batches[0]] {
            let back = PutBack(token: desk.token, worker: "w1", batches: [(batch.id, batch.delivery)])
            #expect(try desk.perform(back) == 1)
        }
        let gone = Reclaim(.gone(["w1"]), shards: [(1, desk.token)])
        #expect(try desk.perform(gone).putBack == 1)
        #expect(try Desk.jobs(desk.checkout(most: 1).batches) == ["j1"])
        #expect(try Desk.jobs(desk.checkout("w2").batches) == ["j2", "j3", "j4"])
        #expect(try desk.audit() == [])
    }

    @Test func `a worker puts back nothing that another has by now`() throws {
        try desk.split([("j1", 2)])
        let batch = try #require(try desk.checkout("w1").batches.first)
        _ = try desk.perform(Reclaim(.gone(["w1"]), shards: [(1, desk.token)]))
        #expect(try desk.checkout("w2").batches.map(\.delivery) == [2])
        for worker in ["w1", "w2"] {
            let back = PutBack(token: desk.token, worker: worker, batches: [(batch.id, batch.delivery)])
            #expect(try desk.perform(back) == 0)
        }
        #expect(try desk.jobRecord("j1").inFlight == 2)
        #expect(try desk.audit() == [])
    }
}
