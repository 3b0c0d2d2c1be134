import PushModel
import RandomTesting
import Testing

@testable import DeviceSimulation

@Suite struct FleetTests {
    /// The tolerance is a little more than six standard deviations. So the test passes if the rules are right, and a wrong rule
    /// changes the result by more than the tolerance.
    @Test(arguments: [1, 2, 3]) func `independent wake-ups give the exact share of devices that are done`(
        sends: Int
    ) {
        let count = 10_000
        var test = TestFleet {
            $0.allowance = 3
            $0.wake.wifiCharging = 0.3
        }
        for send in 0..<sends {
            for device in 0..<count { test.push(to: device, at: .seconds(Double(1500 * send))) }
        }
        _ = test.advance(to: .seconds(20_000))
        var missed = 1.0
        for _ in 0..<sends { missed *= 0.7 }
        let entry = test.fleet.editions.entries[0]
        expect(entry.done, of: count, has: 1 - missed)
        expect(entry.doneBySends[1], of: count, has: 0.3)
        if sends > 1 { expect(entry.doneBySends[2], of: count, has: 0.7 * 0.3) }
    }

    @Test func `network, charging and force-quit shares decide together`() {
        let count = 10_000
        var test = TestFleet {
            $0.wifi = HourlyShare(0.5)
            $0.cellular = HourlyShare(0.3)
            $0.charging = HourlyShare(0.6)
            $0.forceQuit = 0.2
            $0.wake.wifi = 0.5
            $0.wake.cellularCharging = 0.4
            $0.wake.cellular = 0.1
        }
        for device in 0..<count { test.push(to: device, at: .start) { $0.expiration = .seconds(600) } }
        _ = test.advance(to: .seconds(599))
        let awake = 0.5 * (0.6 + 0.4 * 0.5) + 0.3 * (0.6 * 0.4 + 0.4 * 0.1)
        expect(test.fleet.counts.wakeUps, of: count, has: 0.8 * awake)
        expect(test.fleet.counts.discards[.forceQuit] ?? 0, of: count, has: 0.8 * 0.2)
    }

    @Test
    func `half of the wake-up delays are below the median, and one of a hundred above the 99th percentile`() {
        let count = 10_000
        var test = TestFleet { ($0.delay.p50, $0.delay.p99) = (.seconds(20), .seconds(300)) }
        for device in 0..<count { test.push(to: device, at: .start) }
        let times = test.advance(to: .seconds(20_000)).wakeUps
        expect(times.filter { $0 < .seconds(20) }.count, of: count, has: 0.5)
        expect(times.filter { $0 > .seconds(300) }.count, of: count, has: 0.01)
    }

    @Test func `one in ten devices is slower than the median divided by the spread`() {
        let test = TestFleet { $0.bandwidth.spread = 3 }
        let slow = (0..<10_000).filter { test.conditions($0).bitsPerSecond(at: .start) < 20e6 / 3 }
        expect(slow.count, of: 10_000, has: 0.1)
    }

    private func expect(
        _ found: Int, of count: Int, has share: Double, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let deviation = (Double(count) * share * (1 - share)).squareRoot()
        #expect(
            abs(Double(found) - Double(count) * share) < 6 * deviation + 1,
            "\(found) of \(count), expected \(share)", sourceLocation: sourceLocation)
    }

    @Test func `a device does not depend on other devices or on the order of their pushes`() {
        func doneTimes(_ devices: [Int], seed: UInt64) -> [UInt32: ModelTime] {
            var test = TestFleet(seed: seed) {
                $0.wake.wifiCharging = 0.5
                $0.delay.p50 = .seconds(20)
                $0.bandwidth.spread = 2
            }
            var numbers: [UInt32: Int] = [:]
            for (index, device) in devices.enumerated() {
                test.push(to: device, at: .start)
                numbers[UInt32(index)] = device
            }
            var times: [UInt32: ModelTime] = [:]
            for done in test.advance(to: .seconds(5000)).done {
                times[UInt32(numbers[done.device]!)] = done.time
            }
            return times
        }
        let times = doneTimes(Array(0..<200), seed: 1)
        #expect(times.count > 50 && times == doneTimes((0..<200).reversed(), seed: 1))
        #expect(times != doneTimes(Array(0..<200), seed: 2))
        let few = doneTimes([7, 20], seed: 1)
        #expect(few == times.filter { [7, 20].contains($0.key) })
    }

    @Test func `a device's state takes at most 64 bytes with its event`() {
        let timer = MemoryLayout<ModelTime>.size + 2 * MemoryLayout<UInt32>.size
        #expect(MemoryLayout<SimulatedDeviceState>.stride + timer <= 64)
    }

    @Test func `100,000 devices have at most one event each, and one place in the done log`() {
        let count = 100_000
        var test = TestFleet(startsAt: .seconds(3 * 3600)) {
            $0.wifi = HourlyShare(0.7)
            $0.cellular = HourlyShare(0.2)
            $0.wake.wifiCharging = 0.6
            $0.delay.p50 = .seconds(20)
        }
        let list = test.fleet.editionList(["e"])
        var push = SimulatedPush(.background)
        push.editions = list
        for send in 0..<2 {
            // The first push goes to all devices, and the second push to every fifth device.
            for device in stride(from: 0, to: count, by: 1 + 4 * send) {
                _ = TestFleet.token(device).withUnsafeBytes {
                    test.fleet.receive(push, token: $0, at: .seconds(Double(1500 * send)))
                }
            }
            #expect(test.fleet.eventCount <= count)
        }
        while let due = test.fleet.nextDue, due < .seconds(3600) {
            _ = test.fleet.advance(to: .seconds(3600), limit: 1000)
        }
        let fleet = test.fleet
        #expect(fleet.deviceCount == count && fleet.eventCount <= count)
        #expect(fleet.done.entries.count == fleet.counts.doneReports)
        #expect(fleet.done.entries.count == Set(fleet.done.entries.map(\.device)).count)
        #expect(fleet.counts.doneReports > count / 3)
    }

    @Test func `pushes to tokens beyond the greatest number of devices are counted only`() {
        var population = DevicePopulation()
        population.mostDevices = 2
        var fleet = SimulatedFleet(population)
        for device in 0..<5 {
            _ = TestFleet.token(device).withUnsafeBytes {
                fleet.receive(SimulatedPush(.alert), token: $0, at: .start)
            }
        }
        #expect(fleet.deviceCount == 2 && fleet.counts.pushesBeyondLimit == 3)
        #expect(fleet.counts.shownAlerts == 2)
    }

    @Test func `events end when the model's time ends`() {
        var test = TestFleet { $0.allowance = 0 }
        let late = ModelTime(tenths: .max - 100)
        test.push(at: late)
        #expect(test.fleet.eventCount == 0 || test.fleet.nextDue! < .never)
        #expect(test.advance(to: .never).isEmpty && test.fleet.eventCount == 0)
        #expect(test.fleet.heldCount == 1)
    }

    /// Sends random pushes to random devices. After each push the rules hold, and no push is lost.
    @Test(arguments: 1...20 as ClosedRange<UInt64>) func `every push is shown, delivered, discarded or held`(
        seed: UInt64
    ) {
        var random = SplitMix(seed: seed)
        func share() -> Double { Double(random.int(in: 0...4)) / 4 }
        var test = TestFleet(seed: seed, kilobytes: UInt32(random.int(in: 1...90_000))) { profile in
            profile.wifi = HourlyShare(hours: (0..<24).map { _ in share() / 2 })
            profile.cellular = HourlyShare(hours: (0..<24).map { _ in share() / 2 })
            profile.charging = HourlyShare(hours: (0..<24).map { _ in share() })
            profile.lowPower = HourlyShare(hours: (0..<24).map { _ in share() / 2 })
            profile.opens = HourlyShare(hours: (0..<24).map { _ in share() / 2 })
            profile.forceQuit = share() / 2
            profile.allowance = random.int(in: 0...3)
            profile.dailyBudget = .seconds(random.int(in: 0...300))
            profile.wake.wifi = share()
            profile.wake.cellular = share()
            profile.delay.p50 = .seconds(random.int(in: 0...30))
            profile.resumes = share()
        }
        let kinds: [SimulatedPush.Kind] = [
            .alert, .alertWithExtension, .background, .background, .emptyBackground,
        ]
        var (time, sent, actions) = (ModelTime.start, 0, [DeviceAction]())
        for _ in 0..<3000 {
            time = time + Double(random.int(in: 0...60))
            let expiration = [.never, SimulatedPush.notStored, time + 600, time][random.int(in: 0...3)]
            let kind = kinds[random.int(in: 0...4)]
            actions += test.push(kind, ["a", "b"], to: random.int(in: 0...9), at: time) {
                $0.expiration = expiration
                $0.collapseID = UInt32(random.int(in: 0...2))
                $0.neverWakes = random.chance(10)
            }
            sent += 1
        }
        actions += test.advance(to: .never)
        let counts = test.fleet.counts
        let delivered = counts.shownAlerts + counts.wakeUps + counts.foregroundDeliveries
        #expect(delivered + counts.discards.values.reduce(0, +) + test.fleet.heldCount == sent)
        #expect(zip(actions, actions.dropFirst()).allSatisfy { $0.time <= $1.time })
        #expect(test.fleet.done.entries.count == counts.doneReports && counts.doneReports <= 20)
        var wakeUps: [[UInt32]: Int] = [:]
        for action in actions where action.kind == .start(.wakeUp) {
            let hour = test.conditions(test.number(of: action.device)).hourNumber(at: action.time)
            wakeUps[[action.device, hour], default: 0] += 1
        }
        #expect(wakeUps.values.max() ?? 0 <= test.fleet.population.profiles[0].profile.allowance)
    }
}
