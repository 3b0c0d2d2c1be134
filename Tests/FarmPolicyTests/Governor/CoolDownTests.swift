import Testing

@testable import FarmPolicy

struct CoolDownTests {
    private let start = ContinuousClock.now
    private let delays = Duration.seconds(15)...Duration.seconds(30)

    @Test func `the cool-down doubles with each refusal in a row and resets after an acceptance`() {
        var cool = CoolDown()
        var now = start
        for _ in 0..<2 {
            for seconds in [30, 60, 120, 240, 480, 960, 1800, 1800] {
                #expect(cool.refused(7, delays: delays, at: now) == .seconds(seconds))
                var copy = cool
                let early = copy.postpone(7, isReturned: true, at: now + .seconds(seconds) - .milliseconds(1))
                #expect(early != nil)
                now += .seconds(seconds + 60)
                #expect(cool.postpone(7, isReturned: true, at: now) == nil)
            }
            cool.accepted(7, at: now)
            #expect(cool.isEmpty)
        }
    }

    @Test(arguments: [(0, 30), (20, 30), (100, 100), (3600, 3600)])
    func `a device cools down for the time that the gateway requests`(asked: Int, cools: Int) {
        var cool = CoolDown()
        #expect(cool.refused(7, delays: delays, asked: .seconds(asked), at: start) == .seconds(cools))
        let almost = start + .seconds(cools) - .seconds(1)
        var copy = cool
        let early = copy.postpone(7, isReturned: true, at: almost)
        #expect(early != nil)
        // A new push must not overtake the refused push, which may return up to 15 seconds after the cool-down.
        let late = cool.postpone(7, isReturned: false, at: almost)
        #expect(late.map { almost + $0 >= start + .seconds(cools + 15) } == true)
        // The second refused push was in flight at the time of the first refusal.
        // It also waits at least for the time that the gateway requests.
        var both = CoolDown()
        _ = both.refused(7, delays: delays, at: start)
        #expect(both.refused(7, delays: delays, asked: .seconds(asked), at: start) >= .seconds(asked))
    }

    @Test func `pushes in flight together count as one refusal and keep their order`() {
        var cool = CoolDown()
        var waits: [Duration] = []
        for _ in 0..<5 { waits.append(cool.refused(7, delays: delays, at: start)) }
        #expect(waits[0] == .seconds(30))
        // The farm adds a random delay of up to 15 seconds to each wait. To keep the order of the pushes, each wait must be more
        // than 15 seconds longer than the previous wait.
        for (one, next) in zip(waits, waits.dropFirst()) {
            #expect(next > max(one, .seconds(15)) + .seconds(15))
        }
        #expect(cool.refused(7, delays: delays, at: start + .seconds(31)) > .seconds(60))
    }

    @Test func `delayed pushes follow the refused push in order`() {
        var cool = CoolDown()
        let refused = cool.refused(1, delays: delays, at: start)
        var last = start + refused + .seconds(15)
        for tick in 1...20 {
            let now = start + .seconds(tick)
            let due = now + (cool.postpone(1, isReturned: false, at: now) ?? .zero)
            #expect(due >= last + .seconds(1))
            last = due
        }
        // The refused push may be sent when it is due. New pushes follow the delayed pushes, even after an accepted push.
        #expect(cool.postpone(1, isReturned: true, at: start + .seconds(31)) == nil)
        cool.accepted(1, at: start + .seconds(32))
        #expect(cool.postpone(1, isReturned: true, at: start + .seconds(33)) == nil)
        let late = cool.postpone(1, isReturned: false, at: start + .seconds(34))
        #expect(late.map { start + .seconds(34) + $0 > last } == true)
        // When no delayed push is left, a new push may be sent at once.
        #expect(cool.postpone(1, isReturned: false, at: last + .seconds(6)) == nil)
        #expect(cool.isEmpty)
    }

    @Test func `other devices are not affected`() {
        var cool = CoolDown()
        _ = cool.refused(1, delays: delays, at: start)
        #expect(cool.postpone(2, isReturned: false, at: start) == nil)
        cool.accepted(2, at: start)
        #expect(cool.count == 1)
    }

    @Test func `the table is bounded and finished cool-downs make room`() {
        var cool = CoolDown(most: 100)
        for device in 0..<1000 as Range<UInt64> { _ = cool.refused(device, delays: delays, at: start) }
        #expect(cool.count == 100)
        #expect(cool.postpone(999, isReturned: false, at: start) == nil)
        _ = cool.refused(5000, delays: delays, at: start + .seconds(56))
        #expect(cool.count == 1)
    }
}
