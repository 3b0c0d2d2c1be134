import FarmPolicy
import Testing

@Suite struct DialRateTests {
    private let start = ContinuousClock.now

    @Test func `all connections may be dialled at once, and each again after its life`() {
        var rate = DialRate(connections: 4, life: .milliseconds(400))
        for _ in 0..<4 { #expect(rate.take(at: start) == .zero) }
        #expect(rate.take(at: start) == .milliseconds(100))
        #expect(rate.take(at: start + .milliseconds(99)) == .milliseconds(1))
        #expect(rate.take(at: start + .milliseconds(100)) == .zero)
        #expect(rate.take(at: start + .milliseconds(100)) == .milliseconds(100))
    }

    @Test func `a long pause gives no more than the burst`() {
        var rate = DialRate(connections: 2, life: .seconds(1))
        for _ in 0..<2 { #expect(rate.take(at: start) == .zero) }
        let later = start + .seconds(3600)
        for _ in 0..<2 { #expect(rate.take(at: later) == .zero) }
        #expect(rate.take(at: later) > .zero)
    }

    @Test func `in the long run there are as many dials as lives`() {
        var rate = DialRate(connections: 8, life: .milliseconds(400))
        var dials = 0
        for millisecond in 0..<10_000 where rate.take(at: start + .milliseconds(millisecond)) == .zero {
            dials += 1
        }
        #expect((200...208).contains(dials), "\(dials)")
    }
}
