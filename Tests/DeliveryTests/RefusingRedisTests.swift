import BatchTesting
import Testing

@testable import Delivery
@testable import StoreProtocol

/// A Redis that answers, but refuses: READONLY, MISCONF, BUSY.
@Suite struct RefusingRedisTests {
    private let window = Window(worker: "w", now: .now)
    private let refusal = StoreError.redis(.timedOut)

    init() { window.assign([0: FenceToken(Array("1:n:here".utf8))]) }

    @Test func `a checkout that failed is not tried again before a pause is over`() throws {
        let first = try #require(window.checkOut(wantsMore: true))
        window.checkedOut(first, .failure(refusal))
        for _ in 0..<10 {
            #expect(window.checkOut(wantsMore: true) == nil)
            window.now += .milliseconds(19)
        }
        let delay = try #require(window.delay)
        #expect(delay > .zero && delay <= .milliseconds(200))
        // Somebody else's report is due earlier: the pause is not forgotten.
        window.reportDue()
        #expect(window.checkOut(wantsMore: true) == nil && window.delay == .milliseconds(10))
        window.now += .milliseconds(10)
        #expect(window.checkOut(wantsMore: true) != nil)
    }

    @Test func `credit that was refused is not asked for again before a pause is over`() throws {
        window.accept(
            Checkout.Batch(
                id: BatchID(Array("00.h.a".utf8)), delivery: 1, granted: 2, suspicion: nil,
                map: Array("......".utf8), body: Batches.body([Batches.Part(count: 6)])))
        func reports() -> [Window.Call] {
            window.takeActions().compactMap { if case .report(let call, _) = $0 { call } else { nil } }
        }
        // What came with the shard is looked for first.
        let search = try #require(window.checkOut(wantsMore: true))
        window.checkedOut(
            search, .success(Checkout.Reply(pauseReason: nil, left: [], fenced: [], batches: [])))
        #expect(window.checkOut(wantsMore: true) == nil)
        window.answered(try #require(reports().first), .failure(refusal))
        for _ in 0..<10 {
            #expect(window.checkOut(wantsMore: true) == nil && reports().isEmpty)
            window.now += .milliseconds(19)
        }
        window.now += .milliseconds(10)
        #expect(window.checkOut(wantsMore: true) == nil && reports().count == 1)
    }

    @Test func `a new connection is tried at once`() throws {
        let first = try #require(window.checkOut(wantsMore: true))
        window.checkedOut(first, .failure(refusal))
        window.reconnected(isOther: false)
        #expect(window.checkOut(wantsMore: true) != nil)
    }
}
