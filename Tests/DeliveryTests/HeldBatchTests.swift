import BatchTesting
import PushModel
import StoreProtocol
import Testing

@testable import Delivery
@testable import StoreProtocol

@Suite struct HeldBatchTests {
    private static let dead = UndeliveredResult.tokenFailed(
        reason: "Unregistered", status: 410, isInvalidToken: true)
    private static let retry = UndeliveredResult.retry(
        .server, status: 500, reason: "InternalServerError", retryAfterMilliseconds: 9)

    @Test func `positions are sent in order within the credit`() throws {
        let batch = try Batches.held(6, granted: 4)
        #expect(batch.hasNext && batch.sendAll() == [0, 1, 2, 3] && !batch.hasNext)
        #expect(batch.inFlight == 4 && batch.creditInUse == 4 && !batch.isComplete)
        batch.grant(upTo: 3)
        #expect(!batch.hasNext)
        batch.grant(upTo: 99)
        #expect(batch.granted == 6 && batch.creditInUse == 6 && batch.sendAll() == [4, 5])
    }

    @Test func `a position that Redis has settled is not sent again`() throws {
        let batch = try Batches.held(6, map: "x.xx.x")
        #expect(batch.reported == 4 && batch.creditInUse == 2 && batch.sendAll() == [1, 4])
        #expect(try Batches.held(3, map: "xxx").isComplete)
    }

    @Test func `returned positions are sent again first and in order`() throws {
        let batch = try Batches.held(8, granted: 6)
        for _ in 0..<5 { _ = batch.next() }
        for position in [3, 1, 4] { batch.reopen(position) }
        #expect(batch.inFlight == 2 && batch.hasNext && batch.creditInUse == 6)
        #expect(batch.sendAll() == [1, 3, 4, 5])
    }

    @Test func `a report carries each settled position once in runs`() throws {
        let batch = try Batches.held(10)
        batch.sendAll()
        for position in [0, 1, 2, 5, 9] { batch.delivered(position) }
        batch.record(6, as: Self.dead, timestamp: 1_700_000_000_000)
        #expect(batch.unreported == 6)
        var builder = ResultsBuilder()
        let report = try #require(batch.beginReport(&builder))
        #expect(report.runs.bytes == [0, 1, 0, 3, 0, 6, 0, 7, 0, 10, 0, 10] && report.hasOnlyFacts)
        #expect(
            try Batches.lines(report.entry)
                == Array(repeating: "job delivered", count: 5)
                + ["6 job failed Unregistered 410 cause  dead at 1700000000000"])
        #expect(batch.unreported == 0 && batch.reporting == 6 && batch.isReporting)
        batch.delivered(3)
        #expect(batch.beginReport(&builder) == nil, "one report at a time")
        batch.reportAccepted()
        #expect(batch.reported == 6 && batch.creditInUse == 4 && batch.unreported == 1 && !batch.isReporting)
        #expect(try batch.reportNow()?.positions == [3])
    }

    @Test func `a batch without settled positions reports nothing`() throws {
        let batch = try Batches.held(3)
        #expect(try batch.reportNow() == nil && !batch.isReporting)
        batch.sendAll()
        #expect(try batch.reportNow() == nil)
    }

    @Test func `a failed report is repeated with the positions settled since`() throws {
        let batch = try Batches.held(4)
        batch.sendAll()
        batch.delivered(0)
        batch.record(1, as: Self.retry)
        _ = try batch.reportNow()
        batch.delivered(2)
        batch.reportFailed()
        #expect(batch.unreported == 3 && batch.reporting == 0 && batch.creditInUse == 4)
        let again = try #require(try batch.reportNow())
        #expect(again.positions == [0, 2] && again.isFact && again.lines.count == 2)
        batch.reportAccepted()
        #expect(try #require(try batch.reportNow()).positions == [1])
        batch.reportAccepted()
        batch.delivered(3)
        #expect(batch.isComplete)
    }

    @Test func `positions that Redis knows are not reported again but the others are`() throws {
        let batch = try Batches.held(5)
        batch.sendAll()
        for position in [0, 1, 2] { batch.delivered(position) }
        _ = try batch.reportNow()
        batch.reportFailed()
        batch.reconcile(Array(".x...".utf8), granted: 5)
        #expect(batch.reported == 1 && batch.unreported == 2 && batch.creditInUse == 4)
        #expect(try batch.reportNow()?.positions == [0, 2])
        batch.reportFailed()
        batch.reconcile(Array("xxx..".utf8), granted: 5)
        #expect(batch.unreported == 0 && batch.reported == 3)
        #expect(try batch.reportNow() == nil)
    }

    @Test func `a position that another worker settled is not sent`() throws {
        let batch = try Batches.held(4)
        _ = batch.next()
        batch.delivered(0)
        _ = try batch.reportNow()
        batch.reportFailed()
        batch.reconcile(Array("x.x.".utf8), granted: 4)
        #expect(batch.reported == 2 && batch.creditInUse == 2 && batch.sendAll() == [1, 3])
    }

    @Test func `final facts and decisions are never in one report`() throws {
        let batch = try Batches.held(5)
        batch.sendAll()
        batch.delivered(0)
        batch.record(1, as: Self.retry)
        batch.record(2, as: .expired)
        batch.record(3, as: .becameUnknown(cause: "cut"))
        batch.record(4, as: Self.dead)
        let facts = try #require(try batch.reportNow())
        #expect(facts.positions == [0, 3, 4] && facts.isFact)
        #expect(
            facts.lines.sorted() == [
                "3 job failed unknown 0 cause cut {}", "4 job failed Unregistered 410 cause  dead",
                "job delivered",
            ])
        batch.reportAccepted()
        #expect(batch.reported == 3 && batch.unreported == 2)
        let decisions = try #require(try batch.reportNow())
        #expect(decisions.positions == [1, 2] && !decisions.isFact)
        batch.reportAccepted()
        #expect(batch.reported == 5 && batch.creditInUse == 0)
    }

    @Test func `a worker that lost the batch reports only final facts`() throws {
        let batch = try Batches.held(6)
        for _ in 0..<5 { _ = batch.next() }
        batch.delivered(0)
        batch.record(1, as: Self.retry)
        batch.becomeStale()
        #expect(!batch.hasNext && batch.unreported == 1 && batch.inFlight == 3 && batch.creditInUse == 4)
        #expect(try #require(try batch.reportNow()).positions == [0])
        batch.reportAccepted()
        batch.record(2, as: .expired)
        batch.reopen(3)
        #expect(batch.unreported == 0 && !batch.hasNext && !batch.isIdle)
        batch.record(4, as: Self.dead)
        #expect(try #require(try batch.reportNow()).positions == [4])
        batch.reportAccepted()
        #expect(batch.isIdle && batch.creditInUse == 0)
    }

    @Test func `an outcome that Redis forgot is reported again and no sent push is sent again`() throws {
        let batch = try Batches.held(6, granted: 5)
        batch.sendAll()
        batch.delivered(0)
        _ = try batch.reportNow()
        batch.reportAccepted()
        for position in [1, 2] { batch.record(position, as: Self.dead) }
        _ = try batch.reportNow()
        batch.reportAccepted()
        #expect(batch.reported == 3 && batch.creditInUse == 2)
        // Redis has lost the second report and the credit beyond the third position.
        #expect(batch.reconcile(Array("x.....".utf8), granted: 3))
        #expect(batch.reported == 1 && batch.unreported == 2 && batch.creditInUse == 4 && batch.granted == 3)
        #expect(!batch.hasNext && batch.wanted(room: 0) == 5, "what is in flight needs its credit")
        let again = try #require(try batch.reportNow())
        #expect(again.positions == [1, 2] && again.isFact && again.lines.count == 2)
        batch.reportAccepted()
        #expect(!batch.reconcile(Array("xxx...".utf8), granted: 5) && batch.creditInUse == 2)
        #expect(batch.sendAll() == [])
    }

    @Test func `pushes of a paused job are not sent but their outcomes are reported`() throws {
        let batch = try Batches.held(4, granted: 4)
        #expect(batch.next() == 0)
        batch.delivered(0)
        batch.reconcile(Array("p.pp".utf8), granted: 4)
        #expect(batch.unreported == 1 && batch.sendAll() == [1])
        #expect(try #require(try batch.reportNow()).positions == [0])
    }

    @Test func `a batch that is assigned again continues at its position`() throws {
        let batch = try Batches.held(4, granted: 2)
        batch.sendAll()
        batch.delivered(0)
        batch.becomeStale()
        let given = Checkout.Batch(
            id: batch.id, delivery: 3, granted: 4, suspicion: nil, map: Array("....".utf8),
            body: batch.batch.bytes)
        batch.redeliver(given)
        #expect(batch.delivery == 3 && batch.sendAll() == [2, 3] && batch.inFlight == 3)
        #expect(try #require(try batch.reportNow()).positions == [0])
    }

    @Test(arguments: [
        (UndeliveredResult.expired, false), (.becameUnknown(cause: "cut"), true), (dead, true),
        (retry, false),
    ]) func `some facts are final`(fact: UndeliveredResult, isFact: Bool) throws {
        let batch = try Batches.held(1)
        batch.sendAll()
        batch.record(0, as: fact)
        #expect(fact.isFact == isFact)
        #expect(try batch.reportNow()?.isFact == isFact)
    }

    @Test func `a retry counts the attempt, names the cause and contains the push unchanged`() throws {
        let own = Batches.Part(job: "own", attempt: 2, count: 2, payloadPerPush: true)
        let values = Batches.Part(job: "values", count: 2, hasTemplate: true)
        let batch = try Batches.held([Batches.Part(job: "shared", count: 1), own, values])
        batch.sendAll()
        for position in 0..<5 { batch.record(position, as: Self.retry) }
        let lines = try #require(try batch.reportNow()).lines
        let what = "retry server 500 InternalServerError after 9 tries"
        #expect(
            lines == [
                "0 shared \(what) 1 cause InternalServerError {}",
                "1 own \(what) 3 cause InternalServerError {\"n\":1}",
                "2 own \(what) 3 cause InternalServerError {\"n\":2}",
                "3 values \(what) 1 cause InternalServerError {\"n\":3}",
                "4 values \(what) 1 cause InternalServerError {\"n\":4}",
            ])
    }

    @Test func `a dead letter of a push with values has the rendered payload`() throws {
        let batch = try Batches.held([Batches.Part(count: 2, hasTemplate: true)])
        batch.sendAll()
        batch.delivered(0)
        batch.record(1, as: .deadLetter(reason: "PayloadTooLarge", status: 413))
        let lines = try #require(try batch.reportNow()).lines
        #expect(lines.contains("1 job failed PayloadTooLarge 413 cause  {\"n\":1}"), "\(lines)")
    }

    @Test func `an overdue push expires within the credit`() throws {
        let batch = try Batches.held(
            [
                Batches.Part(job: "late", options: PushOptions(deadline: 100), count: 3),
                Batches.Part(job: "early", options: PushOptions(deadline: 101), count: 1),
                Batches.Part(job: "late2", options: PushOptions(deadline: 99), count: 3),
            ], granted: 6)
        for _ in 0..<2 { _ = batch.next() }
        batch.reopen(0)
        #expect(batch.expire(now: 100) == 4 && batch.unreported == 4 && batch.inFlight == 1)
        #expect(batch.sendAll() == [3] && batch.expire(now: 100) == 0)
        #expect(try #require(try batch.reportNow()).positions == [0, 2, 4, 5])
    }

    @Test(arguments: [(1, [2, 3, 10]), (2, [3, 10]), (5, [3, 10])])
    func `a suspect batch requests one group at a time until its suspects are sent`(
        group: Int, expected: [Int]
    ) throws {
        let suspicion = Suspicion(suspect: 3, group: group, sendsAlone: true)
        let batch = try Batches.held(10, granted: 1, suspicion: suspicion)
        #expect(batch.isSuspect && batch.wanted(room: 100) == 1, "the first one is granted already")
        var asked: [Int] = []
        while batch.isSuspect {
            for position in batch.sendAll() {
                #expect(
                    batch.wanted(room: 100) == batch.granted, "nothing is asked for while one is in flight")
                batch.delivered(position)
            }
            let wanted = batch.wanted(room: 100)
            asked.append(wanted)
            _ = try batch.reportNow()
            batch.reportAccepted()
            batch.grant(upTo: wanted)
        }
        #expect(asked == expected)
    }

    @Test func `a suspect batch skips settled positions and ends without open suspects`() throws {
        func held(_ suspect: Int, sendsAlone: Bool = true) throws -> HeldBatch {
            try Batches.held(
                6, granted: 0, suspicion: Suspicion(suspect: suspect, group: 1, sendsAlone: sendsAlone),
                map: "xx.x..")
        }
        #expect(try held(4).isSuspect && held(4).wanted(room: 100) == 3)
        #expect(try !held(2).isSuspect && held(2).wanted(room: 100) == 6)
        #expect(try !held(4, sendsAlone: false).isSuspect)
    }

    @Test func `after one kill the suspects are sent like other pushes`() throws {
        let batch = try Batches.held(
            10, granted: 2, suspicion: Suspicion(suspect: 8, group: 0, sendsAlone: false))
        #expect(!batch.isSuspect && batch.wanted(room: 3) == 5)
        #expect(batch.sendAll() == [0, 1])
        batch.delivered(1)
        #expect(batch.wanted(room: 3) == 5 && batch.wanted(room: 100) == 10)
    }

    @Test func `receipts for all pushes name each delivered token`() throws {
        let batch = try Batches.held([
            Batches.Part(job: "quiet", options: PushOptions(receipts: .none), count: 1),
            Batches.Part(job: "all", options: PushOptions(receipts: .all), count: 2),
        ])
        batch.sendAll()
        for position in 0..<3 { batch.delivered(position) }
        #expect(
            try #require(try batch.reportNow()).lines == [
                "quiet delivered", "1 all delivered", "2 all delivered",
            ])
    }
}
