import BatchTesting
import PushModel
import StoreProtocol
import Testing

@testable import Delivery
@testable import StoreProtocol

/// Checks that batches of one list keep their order even if some batches are being returned to Redis.
struct DeliveryWindowOrderTests {
    private let window = DeliveryWindow(worker: "w", now: .now)
    private static let token = FenceToken(Array("1:n:h".utf8))

    private func given(_ number: Int, lane: String = "h") -> Checkout.Batch {
        Checkout.Batch(
            id: BatchID(Array("03.\(lane).65a0b1c2d3e4f.\(number)".utf8)), delivery: 1, granted: 1,
            suspicion: nil,
            map: Array(".".utf8), body: Batches.body([.init(job: "job-\(number)")]))
    }

    /// Returns a batch with four pushes, two of them sent, and the batch's request for more credit.
    private func asking() throws -> (batch: HeldBatch, call: DeliveryWindow.Call) {
        window.assign([3: Self.token])
        window.accept(
            Checkout.Batch(
                id: given(1).id, delivery: 1, granted: 2, suspicion: nil, map: Array("....".utf8),
                body: Batches.body([.init(job: "large", count: 4)])))
        let batch = try #require(window.nextBatch(hasExclusiveTurn: true)?.batch)
        #expect(batch.next() == 0 && batch.next() == 1)
        #expect(window.nextBatch(hasExclusiveTurn: true) == nil)
        #expect(window.askForCredit(of: .high))
        for case .report(let call, let report) in window.takeActions() where report.wanted == 4 {
            return (batch, call)
        }
        throw Missing()
    }

    private struct Missing: Error {}

    @Test func `a batch that gets more credit is sent before younger batches despite a due report`() throws {
        let (batch, call) = try asking()
        window.delivered(batch, 0)
        window.reported(call, .success(.taken(Report.State(open: 4, granted: 4, isDone: false))))
        window.accept(given(2))
        #expect(window.nextBatch(hasExclusiveTurn: true)?.batch === batch)
    }

    @Test func `unprocessed pushes are sent before younger ones despite a report in flight`()
        throws
    {
        let (batch, _) = try asking()
        window.accept(given(2))
        window.reopen(batch, 1)
        #expect(window.nextBatch(hasExclusiveTurn: true)?.batch === batch)
    }

    private func returned() -> [(call: DeliveryWindow.Call, batch: BatchID)] {
        window.takeActions().compactMap { action in
            guard case .putBack(let call, let request) = action else { return nil }
            return request.batches.first.map { (call, $0.id) }
        }
    }

    @Test func `a batch that arrives while an older batch is returned is returned too`() throws {
        window.assign([3: Self.token])
        window.accept(given(1))
        window.assign([:])
        let first = try #require(returned().first)
        // Before Redis replies to the return of batch 1, the worker owns the shard again. Then the worker gets batch 2, because
        // the reply to an earlier checkout of batch 2 was lost.
        window.assign([3: Self.token])
        window.accept(given(2))
        window.accept(given(3, lane: "b"))
        #expect(
            window.nextBatch(hasExclusiveTurn: true)?.batch.lane == .bulk,
            "of the other list nothing goes back")
        window.assign([3: Self.token])
        #expect(window.nextBatch(hasExclusiveTurn: true)?.batch.lane == .bulk)
        let second = returned()
        #expect(second.map(\.batch) == [given(2).id])
        for call in [first.call] + second.map(\.call) { window.putBack(call, .success(1)) }
        // Redis has both batches in order and gives them to the worker.
        for number in [1, 2] { window.accept(given(number)) }
        #expect(window.nextBatch(hasExclusiveTurn: true)?.batch.id == given(1).id)
    }

    /// The connection is lost during the return of batch 1. Then the worker owns the shard again and gets batch 2.
    private func loseReturn() throws {
        window.assign([3: Self.token])
        window.accept(given(1))
        window.assign([:])
        let first = try #require(returned().first)
        window.putBack(first.call, .failure(.redis(.closed)))
        window.assign([3: Self.token])
        window.accept(given(2))
    }

    @Test func `a call without a reply is repeated and later batches follow`() throws {
        try loseReturn()
        #expect(window.nextBatch(hasExclusiveTurn: true) == nil)
        window.reconnected(isOther: false)
        #expect(Set(returned().map(\.batch)) == [given(1).id, given(2).id])
        #expect(window.nextBatch(hasExclusiveTurn: true) == nil)
    }

    @Test func `a restored Redis is asked for the state of a batch before the return`() throws {
        try loseReturn()
        window.reconnected(isOther: true)
        var asked: [BatchID: DeliveryWindow.Call] = [:]
        for case .report(let call, let report) in window.takeActions() { asked[report.batch] = call }
        let question = try #require(asked[given(1).id])
        #expect(window.nextBatch(hasExclusiveTurn: true) == nil)
        let state = Report.State(open: 1, granted: 1, isDone: false, map: Array(".".utf8))
        window.reported(question, .success(.taken(state)))
        #expect(returned().map(\.batch).contains(given(1).id))
        #expect(window.nextBatch(hasExclusiveTurn: true) == nil)
    }
}
