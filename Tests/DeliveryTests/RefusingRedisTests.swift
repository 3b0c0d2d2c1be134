import BatchTesting
import Testing

@testable import Delivery
@testable import StoreProtocol

/// Checks what the window does when Redis refuses calls with READONLY, MISCONF or BUSY.
@Suite struct RefusingRedisTests {
    private let window = DeliveryWindow(worker: "w", now: .now)
    private let refusal = StoreError.redis(.timedOut)

    init() { window.assign([0: FenceToken(Array("1:n:here".utf8))]) }

    @Test func `a checkout that failed is retried only after a pause`() throws {
        let first = try #require(window.checkOut(wantsMore: true))
        window.checkedOut(first, .failure(refusal))
        for _ in 0..<10 {
            #expect(window.checkOut(wantsMore: true) == nil)
            window.now += .milliseconds(19)
        }
        let delay = try #require(window.delay)
        #expect(delay > .zero && delay <= .milliseconds(200))
        // A report is due before the delay after the refusal ends. The worker must still wait for the end of the delay.
        window.reportDue()
        #expect(window.checkOut(wantsMore: true) == nil && window.delay == .milliseconds(10))
        window.now += .milliseconds(10)
        #expect(window.checkOut(wantsMore: true) != nil)
    }

    @Test func `credit that was refused is requested again only after a pause`() throws {
        window.accept(
            Checkout.Batch(
                id: BatchID(Array("00.h.a".utf8)), delivery: 1, granted: 2, suspicion: nil,
                map: Array("......".utf8), body: Batches.body([Batches.Part(count: 6)])))
        func reports() -> [DeliveryWindow.Call] {
            window.takeActions().compactMap { if case .report(let call, _) = $0 { call } else { nil } }
        }
        // The first checkout of a new window searches for batches that Redis already assigns to the worker.
        let search = try #require(window.checkOut(wantsMore: true))
        window.checkedOut(
            search, .success(Checkout.Reply(pauseReason: nil, nonEmptyShards: [], fenced: [], batches: [])))
        #expect(window.checkOut(wantsMore: true) == nil)
        window.reported(try #require(reports().first), .failure(refusal))
        for _ in 0..<10 {
            #expect(window.checkOut(wantsMore: true) == nil && reports().isEmpty)
            window.now += .milliseconds(19)
        }
        window.now += .milliseconds(10)
        #expect(window.checkOut(wantsMore: true) == nil && reports().count == 1)
    }

    @Test func `a new connection is used at once`() throws {
        let first = try #require(window.checkOut(wantsMore: true))
        window.checkedOut(first, .failure(refusal))
        window.reconnected(isOther: false)
        #expect(window.checkOut(wantsMore: true) != nil)
    }
}
