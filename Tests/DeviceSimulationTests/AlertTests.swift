import Testing

@testable import DeviceSimulation

@Suite struct AlertTests {
    @Test(
        arguments: [
            { $0.lowPower = HourlyShare(1) }, { $0.forceQuit = 1 }, { $0.allowance = 0 },
            { $0.dailyBudget = .zero },
        ] as [@Sendable (inout DeviceProfile) -> Void])
    func `an online device shows an alert at once under every power rule`(
        change: @Sendable (inout DeviceProfile) -> Void
    ) {
        var test = TestFleet {
            $0.charging = HourlyShare(0)
            change(&$0)
        }
        #expect(test.push(.alert, at: .seconds(5)).kinds == [.showAlert(replaces: false)])
        #expect(test.fleet.nextDue == nil)
    }

    @Test func `an alert replaces the last alert only with the same collapse id`() {
        var test = TestFleet()
        let ids: [UInt32] = [7, 7, 8, 0, 0]
        let shown = ids.map { id in test.push(.alert, at: .seconds(1)) { $0.collapseID = id }.kinds }
        #expect(
            shown == [false, true, false, false, false].map { [.showAlert(replaces: $0)] })
        #expect(test.fleet.counts.shownAlerts == 5 && test.fleet.counts.replacedAlerts == 1)
    }

    @Test(
        arguments: [
            { $0.lowPower = HourlyShare(1) }, { $0.forceQuit = 1 }, { $0.allowance = 0 },
            { $0.dailyBudget = .zero }, { $0.wake.wifi = 0 },
        ] as [@Sendable (inout DeviceProfile) -> Void])
    func `an alert with mutable-content runs the extension under every power rule`(
        change: @Sendable (inout DeviceProfile) -> Void
    ) {
        var test = TestFleet {
            $0.charging = HourlyShare(0)
            change(&$0)
        }
        let start = test.push(.alertWithExtension, at: .seconds(5))
        #expect(
            start.kinds == [.showAlert(replaces: false), .start(.notificationExtension), .askPublisher])
        let end = test.advance(to: .seconds(60))
        #expect(end.done.map(\.time) == [.seconds(5 + 13.5)])
        #expect(test.fleet.counts.wakeUps == 0 && test.fleet.counts.extensionRuns == 1)
    }

    @Test func `an extension ends after 30 seconds`() {
        var test = TestFleet(kilobytes: 100_000)
        test.push(.alertWithExtension, at: .seconds(5))
        let end = test.advance(to: .seconds(60))
        #expect(end.kinds == [.interrupt(Edition(number: 0))] && end.first?.time == .seconds(35))
    }

    @Test func `an extension during a run takes over the download`() {
        var test = TestFleet(kilobytes: 100_000) { $0.resumes = 0 }
        test.push(at: .seconds(0))
        test.push(.alertWithExtension, at: .seconds(20))
        // The download needs 40 s. It runs for 18.5 s before the alert, and the extension needs 21.5 s of its 28.5 s for the
        // rest.
        let end = test.advance(to: .seconds(90))
        #expect(end.done.map(\.time) == [.seconds(43)])
        #expect(test.fleet.counts.restartedDownloads == 0)
    }

    @Test func `an offline device shows the newest alert when it is online`() {
        var test = TestFleet(startsAt: .seconds(3 * 3600)) { $0.wifi = .only(6..<24) }
        #expect(test.push(.alert, at: .seconds(1)).isEmpty)
        #expect(test.push(.alertWithExtension, at: .seconds(2)).discards == [.superseded])
        let actions = test.advance(to: .seconds(5 * 3600))
        #expect(
            actions.kinds.prefix(2) == [.showAlert(replaces: false), .start(.notificationExtension)])
        #expect(test.conditions().network(at: actions[0].time) == .wifi)
    }
}
