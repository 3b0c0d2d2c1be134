import FarmPolicy
import Testing

@Suite struct DialRateTests {
    private let start = ContinuousClock.now

    @Test func `all connections may be dialled at once and each again after its lifetime`() {
        var rate = DialRate(connections: 4, life: .milliseconds(400))
        for _ in 0..<4 { #expect(rate.take(at: start) == .zero) }
        #expect(rate.take(at: start) == .milliseconds(100))
        #expect(rate.take(at: start + .milliseconds(99)) == .milliseconds(1))
        #expect(rate.take(at: start + .milliseconds(100)) == .zero)
        #expect(rate.take(at: start + .milliseconds(100)) == .milliseconds(100))
    }

    @Test func `a long pause allows no more than the burst`() {
        var rate = DialRate(connections: 2, life: .seconds(1))
        for _ in 0..<2 { #expect(rate.take(at: start) == .zero) }
        let later = start + .seconds(3600)
        for _ in 0..<2 { #expect(rate.take(at: later) == .zero) }
        #expect(rate.take(at: later) > .zero)
    }

    @Test func `the number of dials matches the number of lifetimes over time`() {
        var rate = DialRate(connections: 8, life: .milliseconds(400))
        var dials = 0
        for millisecond in 0..<10_000 where rate.take(at: start + .milliseconds(millisecond)) == .zero {
            dials += 1
        }
        #expect((200...208).contains(dials), "\(dials)")
    }

    @Test func `dials in any minute stay within the limit and use it`() {
        var rate = DialRate(connections: 50, life: .milliseconds(100), perMinute: 120)
        var dials: [Int] = []
        for millisecond in stride(from: 0, to: 200_000, by: 5)
        where rate.take(at: start + .milliseconds(millisecond)) == .zero {
            dials.append(millisecond)
        }
        for (index, first) in dials.enumerated() {
            #expect(dials[index...].prefix { $0 < first + 60_000 }.count <= 120)
        }
        // Of the 120 dials of a minute, 60 may start at once, and then one a second. So about 260 dials start in 200 seconds.
        #expect((250...270).contains(dials.count), "\(dials.count)")
        #expect(zip(dials, dials.dropFirst()).allSatisfy { $1 - $0 <= 1_000 }, "it never stands still")
    }

    @Test func `the limit reports the time of the next dial`() {
        var rate = DialRate(connections: 4, life: .zero, perMinute: 4)
        #expect(rate.take(at: start) == .zero && rate.take(at: start + .seconds(10)) == .zero)
        #expect(rate.take(at: start + .seconds(15)) == .seconds(25))
        #expect(rate.take(at: start + .seconds(40)) == .zero)
        #expect(rate.take(at: start + .seconds(40)) == .seconds(30))
        rate.change(connections: 4, life: .zero, perMinute: 3)
        #expect(rate.take(at: start + .seconds(40)) == .seconds(20))
    }

    @Test func `dials before a change of the limits still count`() {
        var rate = DialRate(connections: 4, life: .zero, perMinute: 6)
        for _ in 0..<3 { #expect(rate.take(at: start) == .zero) }
        rate.change(connections: 8, life: .zero, perMinute: 8)
        #expect(rate.take(at: start) == .zero && rate.take(at: start) == .seconds(15))
        rate.change(connections: 8, life: .zero, perMinute: 1)
        #expect(rate.take(at: start + .seconds(1)) == .seconds(59))
        rate.change(connections: 8, life: .zero)
        #expect(rate.take(at: start + .seconds(1)) == .zero)
    }
}
