import Testing

@testable import DeviceSimulation

/// Each rule of background pushes alone: the other rules of the test's profile allow every push.
@Suite struct BackgroundPushTests {
    @Test func `a background push starts the app, which asks, downloads and is done`() {
        var test = TestFleet()
        #expect(test.push(at: .seconds(5)).kinds == [.start(.wakeUp), .askPublisher])
        let end = test.advance(to: .seconds(60))
        #expect(end.kinds == [.done(Edition(number: 0), sends: 1)])
        #expect(end.first?.time == .seconds(18.5))
    }

    @Test func `a push without content-available starts nothing`() {
        var test = TestFleet()
        #expect(test.push(.emptyBackground, at: .seconds(5)).discards == [.empty])
        #expect(test.advance(to: .seconds(9000)).isEmpty)
    }

    @Test(arguments: [1, 2, 3, 5])
    func `the next push after the hourly allowance waits for the device's next hour`(
        allowance: Int
    ) {
        var test = TestFleet { $0.allowance = allowance }
        let (hour, next) = test.hours
        var actions: [DeviceAction] = []
        for push in 0...allowance { actions += test.push(at: hour + Double(60 * push)) }
        #expect(actions.wakeUps.count == allowance)
        #expect(test.advance(to: next.justBefore).wakeUps.isEmpty)
        #expect(test.advance(to: next).wakeUps == [next])
    }

    @Test func `the next push after the daily budget waits for the device's midnight`() {
        for (isCharging, wakeUps) in [(false, 2), (true, 3)] {
            var test = TestFleet(kilobytes: 1_000_000) {
                $0.charging = HourlyShare(isCharging ? 1 : 0)
                $0.dailyBudget = .seconds(31)
            }
            let (hour, next) = test.hours
            let actions = (0..<3).flatMap { test.push(at: hour + Double(100 * $0)) }
            #expect(actions.wakeUps.count == wakeUps)
            let later = test.advance(to: .seconds(30 * 3600)).wakeUps
            if isCharging {
                #expect(later.isEmpty)
            } else {
                let day = test.conditions().dayNumber(at: next)
                #expect(later.count == 1 && test.conditions().dayNumber(at: later[0]) == day + 1)
                #expect(test.conditions().dayNumber(at: later[0].justBefore) == day)
            }
        }
    }

    @Test func `an app that finds no data uses little of the daily budget`() {
        var test = TestFleet {
            $0.charging = HourlyShare(0)
            $0.dailyBudget = .seconds(15)
        }
        let (hour, _) = test.hours
        let actions = (0..<3).flatMap { test.push(at: hour + Double(100 * $0)) }
        // The first run takes 13.5 s, and the second run 1.5 s. Together they use the daily budget of 15 s, so the third push
        // starts no app.
        #expect(actions.wakeUps.count == 2 && actions.done.count == 1)
    }

    @Test(arguments: [(0, .superseded), (9, .collapsed)] as [(UInt32, DeviceAction.Discard)])
    func `a device holds only the newest push`(collapseID: UInt32, reason: DeviceAction.Discard) {
        var test = TestFleet(startsAt: .seconds(3 * 3600)) { $0.wifi = .only(6..<24) }
        var actions: [DeviceAction] = []
        for (second, edition) in ["a", "b", "c"].enumerated() {
            actions += test.push(.background, [edition], at: .seconds(Double(second))) {
                $0.collapseID = collapseID
            }
        }
        #expect(actions.discards == [reason, reason] && actions.count == 2)
        let later = test.advance(to: .seconds(5 * 3600))
        #expect(later.wakeUps.count == 1)
        #expect(later.done.count == 1)
        #expect(test.fleet.editions.entries.map(\.done) == [0, 0, 1])
    }

    @Test func `a newer push is delivered by the wake-up that is already decided`() {
        var test = TestFleet { ($0.delay.p50, $0.delay.p99) = (.seconds(20), .seconds(20)) }
        test.push(.background, ["a"], at: .seconds(0))
        #expect(test.push(.background, ["b"], at: .seconds(10)).discards == [.superseded])
        let later = test.advance(to: .seconds(100))
        #expect(later.wakeUps == [.seconds(20)])
        #expect(test.fleet.editions.entries.map(\.done) == [0, 1])
    }

    @Test func `a force-quit app gets no push until the user opens it`() {
        var test = TestFleet {
            $0.forceQuit = 1
            $0.opens = HourlyShare(1)
        }
        let opening = test.conditions().nextOpening(after: test.hours.first, before: test.hours.next)!
        #expect(test.push(at: test.hours.first).discards == [.forceQuit])
        #expect(test.push(at: opening.justBefore).discards == [.forceQuit])
        #expect(test.push(at: opening).kinds == [.start(.foreground), .askPublisher])
        #expect(test.push(at: opening + 181).discards == [.forceQuit])
        #expect(test.fleet.counts.doneReports == 1 && test.fleet.counts.wakeUps == 0)
    }

    @Test(
        arguments: [
            { $0.lowPower = HourlyShare(1) }, { $0.allowance = 0 }, { $0.dailyBudget = .zero },
            { $0.wake.wifi = 0 },
        ] as [@Sendable (inout DeviceProfile) -> Void])
    func `opening the app delivers the held push at once`(change: @Sendable (inout DeviceProfile) -> Void) {
        var test = TestFleet {
            $0.charging = HourlyShare(0)
            $0.opens = HourlyShare(1)
            change(&$0)
        }
        let opening = test.conditions().nextOpening(after: test.hours.first, before: test.hours.next)!
        #expect(test.push(at: test.hours.first).isEmpty)
        #expect(test.advance(to: opening.justBefore).isEmpty)
        #expect(test.advance(to: opening).kinds == [.start(.foreground), .askPublisher])
        #expect(test.advance(to: opening + 30).done.count == 1)
        #expect(test.fleet.counts.wakeUps == 0)
    }

    @Test func `opening the app in a later hour delivers the push before its wake-up`() {
        var test = TestFleet {
            ($0.delay.p50, $0.delay.p99) = (.seconds(5400), .seconds(5400))
            $0.opens = HourlyShare(1)
        }
        // The user has opened the app and closed it again before the push arrives.
        let (first, next) = test.hours
        let opening = test.conditions().nextOpening(after: first, before: next)! + 181
        let second = test.conditions().nextOpening(after: opening, before: .never)!
        test.push(at: opening)
        #expect(test.advance(to: second.justBefore).isEmpty)
        #expect(test.advance(to: second).kinds.first == .start(.foreground))
    }

    @Test func `a push with priority 1 starts no app`() {
        var test = TestFleet { $0.opens = .only([2]) }
        test.push(at: .seconds(0)) { $0.neverWakes = true }
        let actions = test.advance(to: .seconds(4 * 3600))
        #expect(actions.wakeUps.isEmpty)
        #expect(actions.kinds.first == .start(.foreground))
    }

    @Test func `low power mode holds a push until it ends, and a charging device is not in it`() {
        for isCharging in [false, true] {
            var test = TestFleet(startsAt: .seconds(3 * 3600)) {
                $0.lowPower = .only(0..<6)
                $0.charging = HourlyShare(isCharging ? 1 : 0)
            }
            let actions = test.push(at: .seconds(60)) + test.advance(to: .seconds(6 * 3600))
            let time = actions.wakeUps.first ?? .never
            #expect(actions.wakeUps.count == 1)
            #expect(isCharging ? time == .seconds(60) : test.conditions().hourNumber(at: time) % 24 == 6)
        }
    }

    @Test func `an offline device gets the push when it is online, unless the push has expired`() {
        for hours in [2.0, 5] {
            var test = TestFleet(startsAt: .seconds(3 * 3600)) { $0.wifi = .only(6..<24) }
            test.push(at: .seconds(60)) { $0.expiration = .seconds(3600 * hours) }
            let actions = test.advance(to: .seconds(9 * 3600))
            if hours == 2 {
                #expect(actions.discards == [.expired] && actions.count == 1)
                #expect(actions.first?.time == .seconds(7200))
            } else {
                #expect(actions.wakeUps.count == 1 && actions.discards.isEmpty)
            }
        }
    }

    @Test(
        arguments: [
            { $0.wifi = HourlyShare(0) }, { $0.lowPower = HourlyShare(1) }, { $0.allowance = 0 },
            { $0.wake.wifi = 0 },
        ] as [@Sendable (inout DeviceProfile) -> Void])
    func `a push with expiration 0 is never held`(change: @Sendable (inout DeviceProfile) -> Void) {
        var test = TestFleet {
            $0.charging = HourlyShare(0)
            change(&$0)
        }
        let actions = test.push(at: .seconds(5)) { $0.expiration = SimulatedPush.notStored }
        #expect(actions.discards == [.notStored] && test.fleet.eventCount == 0)
    }

    @Test func `a push with expiration 0 reaches a device that the system wakes later`() {
        var test = TestFleet { ($0.delay.p50, $0.delay.p99) = (.seconds(20), .seconds(20)) }
        test.push(at: .seconds(0)) { $0.expiration = SimulatedPush.notStored }
        #expect(test.advance(to: .seconds(60)).wakeUps == [.seconds(20)])
    }
}

extension TestFleet {
    /// The times when the first and the second full hour of device 0 begin.
    var hours: (first: ModelTime, next: ModelTime) {
        let first = conditions().nextHour(after: .start)
        return (first, conditions().nextHour(after: first))
    }
}
