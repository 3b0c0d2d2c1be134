import BatchTesting
import PushModel
import StoreProtocol
import Testing

@testable import Delivery
@testable import StoreProtocol

/// Batches of one list keep their order also when some of them are on their way back.
struct WindowOrderTests {
    private let window = Window(worker: "w", now: .now)
    private static let token = FenceToken(Array("1:n:h".utf8))

    private func given(_ number: Int, lane: String = "h") -> Checkout.Batch {
        Checkout.Batch(
            id: BatchID(Array("03.\(lane).65a0b1c2d3e4f.\(number)".utf8)), delivery: 1, granted: 1,
            suspicion: nil,
            map: Array(".".utf8), body: Batches.body([.init(job: "job-\(number)")]))
    }

    /// One batch of four, of which two may be sent and have left, and its request for more credit.
    private func asking() throws -> (batch: HeldBatch, call: Window.Call) {
        window.assign([3: Self.token])
        window.accept(
            Checkout.Batch(
                id: given(1).id, delivery: 1, granted: 2, suspicion: nil, map: Array("....".utf8),
                body: Batches.body([.init(job: "large", count: 4)])))
        let batch = try #require(window.nextBatch(isAlone: true)?.batch)
        #expect(batch.next() == 0 && batch.next() == 1)
        #expect(window.nextBatch(isAlone: true) == nil)
        #expect(window.askForCredit(of: .high))
        for case .report(let call, let report) in window.takeActions() where report.wanted == 4 {
            return (batch, call)
        }
        throw Missing()
    }

    private struct Missing: Error {}

    @Test func `what gets more credit goes before what is younger, though it has something to report`() throws
    {
        let (batch, call) = try asking()
        window.delivered(batch, 0)
        window.answered(call, .success(.taken(Report.State(open: 4, granted: 4, isDone: false))))
        window.accept(given(2))
        #expect(window.nextBatch(isAlone: true)?.batch === batch)
    }

    @Test func `what the gateway did not act on goes before what is younger, though a report is under way`()
        throws
    {
        let (batch, _) = try asking()
        window.accept(given(2))
        window.giveBack(batch, 1)
        #expect(window.nextBatch(isAlone: true)?.batch === batch)
    }

    private func returned() -> [(call: Window.Call, batch: BatchID)] {
        window.takeActions().compactMap { action in
            guard case .putBack(let call, let request) = action else { return nil }
            return request.batches.first.map { (call, $0.id) }
        }
    }

    @Test func `what comes while an older batch is going back goes back as well`() throws {
        window.assign([3: Self.token])
        window.accept(given(1))
        window.assign([:])
        let first = try #require(returned().first)
        // The leases are ours again before Redis has answered, and so is a batch whose checkout was lost.
        window.assign([3: Self.token])
        window.accept(given(2))
        window.accept(given(3, lane: "b"))
        #expect(window.nextBatch(isAlone: true)?.batch.lane == .bulk, "of the other list nothing goes back")
        window.assign([3: Self.token])
        #expect(window.nextBatch(isAlone: true)?.batch.lane == .bulk)
        let second = returned()
        #expect(second.map(\.batch) == [given(2).id])
        for call in [first.call] + second.map(\.call) { window.putBack(call, .success(1)) }
        // Redis has both in their order.
        for number in [1, 2] { window.accept(given(number)) }
        #expect(window.nextBatch(isAlone: true)?.batch.id == given(1).id)
    }

    /// Batch 1 is on its way back when the connection is lost; then the shard is ours again, and batch 2 comes.
    private func loseReturn() throws {
        window.assign([3: Self.token])
        window.accept(given(1))
        window.assign([:])
        let first = try #require(returned().first)
        window.putBack(first.call, .failure(.redis(.closed)))
        window.assign([3: Self.token])
        window.accept(given(2))
    }

    @Test func `a call that had no answer is made again, and what came since follows`() throws {
        try loseReturn()
        #expect(window.nextBatch(isAlone: true) == nil)
        window.reconnected(isOther: false)
        #expect(Set(returned().map(\.batch)) == [given(1).id, given(2).id])
        #expect(window.nextBatch(isAlone: true) == nil)
    }

    @Test func `a Redis that went back is asked what it knows of a batch before it is given back`() throws {
        try loseReturn()
        window.reconnected(isOther: true)
        var asked: [BatchID: Window.Call] = [:]
        for case .report(let call, let report) in window.takeActions() { asked[report.batch] = call }
        let question = try #require(asked[given(1).id])
        #expect(window.nextBatch(isAlone: true) == nil)
        let state = Report.State(open: 1, granted: 1, isDone: false, map: Array(".".utf8))
        window.answered(question, .success(.taken(state)))
        #expect(returned().map(\.batch).contains(given(1).id))
        #expect(window.nextBatch(isAlone: true) == nil)
    }
}
