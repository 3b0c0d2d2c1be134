import PushModel
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Checks that pushes that crash their workers are found after few crashes, and that other pushes of the batch are not affected.
@Suite struct PoisonTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    /// How a worker ends after it has sent a poison push.
    enum SendOutcome { case crash, kill, killAmidOthers }

    /// The result of `run`, in which workers send all pushes with send credit, until no push is left. A worker crashes when
    /// it sends a push of `poison`, while its other pushes are in flight. Positions are counted from 0.
    private struct Search {
        var crashes = 0
        var rounds = 0
        var poisoned: [Int] = []
        /// The number of sends by position.
        var sent: [Int: Int] = [:]
        var largestGroup: [Int] = []
    }

    private func loss(_ ending: SendOutcome, number: Int) -> WorkerExit {
        switch ending {
        case .crash: .crash(hadSent: true)
        case .kill: .kill(hadSent: true, recent: number)
        case .killAmidOthers: .kill(hadSent: true, recent: number + 3)
        }
    }

    private func run(_ poison: Set<Int>, _ ending: SendOutcome = .crash, most: Int = 60) throws -> Search {
        var search = Search()
        while search.crashes < most {
            let worker = "w\(search.crashes)"
            guard let batch = try fixture.checkout(worker, credit: 1000).batches.first else { return search }
            var map = batch.map
            var granted = batch.granted
            var groups = 0
            life: while true {
                let open = (0..<granted).filter { map[$0] == UInt8(ascii: ".") }
                groups = max(groups, open.count)
                for position in open { search.sent[position, default: 0] += 1 }
                if open.contains(where: poison.contains) {
                    search.crashes += 1
                    let reply = try fixture.perform(
                        Reclaim(
                            .gone([worker]), exit: loss(ending, number: search.crashes),
                            shards: [(1, fixture.token)]))
                    #expect(try fixture.audit() == [])
                    if reply.poisoned > 0 {
                        #expect(reply.poisoned == 1 && open.count == 1)
                        search.poisoned += open
                    }
                    search.largestGroup.append(groups)
                    break life
                }
                search.rounds += 1
                var runs = PositionRuns()
                for position in open { runs.append(position) }
                let reply = try fixture.perform(
                    Report(
                        token: fixture.token, worker: worker, batch: batch.id, delivery: batch.delivery,
                        wanted: map.count, hasOnlyFacts: true, runs: runs,
                        entry: open.isEmpty ? [] : StoreFixture.delivered("j1", open.count)))
                guard case .taken(let state) = reply else {
                    Issue.record("\(reply)")
                    return search
                }
                if state.isDone { return search }
                for position in open { map[position] = UInt8(ascii: "x") }
                granted = state.granted
            }
        }
        return search
    }

    @Test(arguments: [0, 1, 15, 16, 17, 100, 254, 255])
    func `a push that crashes its worker costs three crashes and only itself`(position: Int)
        throws
    {
        try fixture.split([("j1", 256)])
        let search = try run([position])
        #expect(search.crashes == 3 && search.poisoned == [position])
        #expect(search.largestGroup[1] <= 16 && search.largestGroup[2] <= 16)
        #expect(search.rounds <= 16 + 16 + 16 + 3)
        #expect(search.sent.count == 256 && search.sent.values.allSatisfy { $0 <= 3 })
        #expect(try fixture.jobRecord("j1").inFlight == 256)
        let closed = try fixture.results().compactMap { record -> [Range<Int>]? in
            guard case .closed(.poison, _, let positions) = record.content else { return nil }
            return positions
        }
        #expect(closed == [[position..<position + 1]])
        #expect(try fixture.jobRecord("j1").crashes == 2 && fixture.jobRecord("j1").pausedReason == nil)
    }

    @Test(arguments: [[3, 4], [3, 200], [0, 255]])
    func `two poison pushes in one batch are both found with three crashes each`(positions: [Int]) throws {
        try fixture.split([("j1", 256)])
        let search = try run(Set(positions))
        #expect(search.crashes <= 6 && search.poisoned == positions)
        #expect(search.sent.count == 256)
        #expect(try fixture.jobRecord("j1").pausedReason == nil)
        #expect(try fixture.audit() == [])
    }

    @Test(arguments: [1, 2, 3]) func `a small batch is searched too`(count: Int) throws {
        try fixture.split([("j1", count)])
        let search = try run([count - 1])
        #expect(search.crashes == 3 && search.poisoned == [count - 1])
    }

    @Test(arguments: [(64, 0), (64, 63), (2, 1), (1, 0)])
    func `a push that gets its worker killed costs four kills`(count: Int, position: Int) throws {
        try fixture.split([("j1", count)])
        let search = try run([position], .kill)
        #expect(search.crashes == 4 && search.poisoned == [position])
        #expect(search.rounds <= 200)
        #expect(search.sent.count == count)
    }

    @Test(arguments: [0, 31, 300, 999])
    func `a poison push among more than 64 costs five kills`(position: Int) throws {
        try fixture.split([("j1", 1000)])
        let search = try run([position], .kill)
        #expect(search.crashes == 5 && search.poisoned == [position])
        #expect(search.sent.count == 1000)
    }

    @Test func `a poison push amid other kills is found later`() throws {
        try fixture.split([("j1", 64)])
        let search = try run([20], .killAmidOthers)
        #expect(search.crashes > 10 && search.crashes <= 16 && search.poisoned == [20])
    }

    @Test func `one kill changes nothing`() throws {
        try fixture.split([("j1", 256)])
        _ = try fixture.checkout("a", credit: 1000)
        _ = try reclaim("a", .kill(hadSent: true, recent: 1))
        let batch = try #require(try fixture.checkout("b", credit: 1000).batches.first)
        #expect(batch.suspicion == Suspicion(suspect: 256, group: 0, sendsAlone: false))
        #expect(batch.granted == 256)
    }

    @Test func `a worker that is killed with other pushes in flight clears its batch of suspicion`() throws {
        try fixture.split([("j1", 64)])
        for worker in ["a", "b"] {
            _ = try fixture.checkout(worker, credit: 1000)
            _ = try reclaim(worker, .kill(hadSent: true, recent: worker == "a" ? 1 : 2))
        }
        let suspect = try #require(try fixture.checkout("c", credit: 1000).batches.first)
        #expect(suspect.suspicion?.sendsAlone == true && suspect.granted == 0)
        _ = try reclaim("c", .kill(hadSent: true, recent: 3))
        let free = try #require(try fixture.checkout("d", credit: 1000).batches.first)
        #expect(free.suspicion == nil && free.granted == 64)
    }

    @Test func `kills with different single suspects clear the suspects`() throws {
        try fixture.split([("j1", 2)])
        for (number, worker) in ["a", "b"].enumerated() {
            _ = try fixture.checkout(worker, credit: 1000)
            _ = try reclaim(worker, .kill(hadSent: true, recent: number + 1))
        }
        var batch = try #require(try fixture.checkout("c").batches.first)
        #expect(try ask(batch, "c") == 1)
        _ = try reclaim("c", .kill(hadSent: true, recent: 3))
        batch = try #require(try fixture.checkout("d").batches.first)
        #expect(try ask(batch, "d") == 1)
        _ = try fixture.report(batch, 0..<1, entry: StoreFixture.delivered("j1", 1), worker: "d", wanted: 2)
        let reply = try reclaim("d", .kill(hadSent: true, recent: 4))
        #expect(reply.poisoned == 0)
        #expect(try fixture.checkout("e").batches.first?.suspicion?.sendsAlone == false)
    }

    @Test func `the search ends after the suspects`() throws {
        try fixture.split([("j1", 8)])
        _ = try fixture.checkout("a", credit: 4)
        _ = try reclaim("a", .crash(hadSent: true))
        let batch = try #require(try fixture.checkout("b").batches.first)
        #expect(batch.suspicion == Suspicion(suspect: 4, group: 2, sendsAlone: true) && batch.granted == 0)
        #expect(try ask(batch, "b") == 2)
        #expect(try ask(batch, "b") == 2, "the next group only when this one is handed over")
        var granted = 2
        for (positions, next) in [(0..<1, 2), (1..<2, 4), (2..<4, 8)] {
            guard
                case .taken(let state) = try fixture.report(
                    batch, positions, entry: StoreFixture.delivered("j1", positions.count), worker: "b",
                    wanted: 8)
            else { throw StoreError.unexpectedReply("not taken") }
            granted = state.granted
            #expect(granted == next)
        }
        // All suspects of the earlier crash have outcomes, so the next crash counts as a first crash again.
        _ = try reclaim("b", .crash(hadSent: true))
        #expect(
            try fixture.checkout("c").batches.first?.suspicion
                == Suspicion(suspect: 8, group: 2, sendsAlone: true))
        #expect(try fixture.audit() == [])
    }

    @Test func `an exit that blames no job keeps the known suspects`() throws {
        try fixture.split([("j1", 16)])
        _ = try fixture.checkout("a")
        _ = try reclaim("a", .crash(hadSent: true))
        _ = try fixture.checkout("b")
        _ = try reclaim("b", .regular)
        #expect(try fixture.checkout("c").batches.first?.suspicion?.group == 4)
    }

    @Test func `the shards with pushes in flight are reported before the reclaim`() throws {
        try fixture.split(step: 1, [("j1", 4)], shard: 0)
        try fixture.split(step: 2, [("j2", 4)], shard: 1)
        _ = try fixture.checkout("a", credit: 6, most: 2)
        _ = try fixture.checkout("b")
        #expect(
            try fixture.perform(ReadInFlightShards(worker: "a", shards: [0, 1, 2]))
                == .init(suspects: 6, shards: [0, 1]))
        #expect(
            try fixture.perform(ReadInFlightShards(worker: "z", shards: [0, 1]))
                == .init(suspects: 0, shards: []))
    }

    private func reclaim(_ worker: String, _ loss: WorkerExit) throws -> Reclaim.Reply {
        let reply = try fixture.perform(Reclaim(.gone([worker]), exit: loss, shards: [(1, fixture.token)]))
        #expect(try fixture.audit() == [])
        return reply
    }

    /// Requests send credit for all pushes of the batch. Returns the granted send credit.
    private func ask(_ batch: Checkout.Batch, _ worker: String) throws -> Int {
        let ask = Report(
            token: fixture.token, worker: worker, batch: batch.id, delivery: batch.delivery,
            wanted: batch.map.count,
            hasOnlyFacts: true, runs: PositionRuns(), entry: [])
        guard case .taken(let state) = try fixture.perform(ask) else {
            throw StoreError.unexpectedReply("not taken")
        }
        return state.granted
    }
}
