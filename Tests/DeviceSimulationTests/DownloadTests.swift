import Testing

@testable import DeviceSimulation

/// In these tests an app in the background runs for at most 30 s. The download begins 1.5 s after the app's start, and its speed
/// is 2.5 MB a second.
@Suite struct DownloadTests {
    private static let edition = Edition(number: 0)

    @Test(arguments: [(71_000, true), (71_250, true), (71_500, false)])
    func `a run of 30 seconds completes what it can download`(kilobytes: UInt32, isDone: Bool) {
        var test = TestFleet(kilobytes: kilobytes)
        test.push(at: .seconds(0))
        let end = test.advance(to: .seconds(60)).last
        #expect(end?.kind == (isDone ? .done(Self.edition, sends: 1) : .interrupt(Self.edition)))
        #expect(isDone || end?.time == .seconds(30))
    }

    @Test func `a download that resumes needs only the rest`() {
        var test = TestFleet(kilobytes: 100_000)
        test.push(at: .seconds(0))
        test.push(at: .seconds(100))
        let end = test.advance(to: .seconds(200))
        // The first run downloads 71,250 KB of 100,000 KB. The second run needs 1.5 s before the download and 11.5 s for the
        // remaining 28,750 KB.
        #expect(end.kinds == [.done(Self.edition, sends: 2)] && end[0].time == .seconds(113))
    }

    @Test func `a download that starts over is never complete if one run is too short`() {
        var test = TestFleet(kilobytes: 100_000) { $0.resumes = 0 }
        let actions = (0..<3).flatMap { test.push(at: .seconds(Double(100 * $0))) }
        let counts = test.fleet.counts
        #expect(actions.done.isEmpty && counts.restartedDownloads == 2 && counts.interruptedDownloads == 2)
    }

    @Test func `a device that is done asks once and downloads nothing`() {
        var test = TestFleet()
        test.push(at: .seconds(0))
        _ = test.advance(to: .seconds(60))
        #expect(test.push(at: .seconds(60)).kinds == [.start(.wakeUp), .askPublisher])
        #expect(test.advance(to: .seconds(100)).isEmpty)
        #expect(test.fleet.counts.doneReports == 1)
        #expect(test.fleet.editions.entries[0].doneBySends[1] == 1)
    }

    @Test func `a run downloads the editions of a push in their order`() {
        var test = TestFleet(kilobytes: 25_000)
        test.push(.background, ["morning", "city", "sport"], at: .seconds(0))
        let actions = test.advance(to: .seconds(100))
        // Each download takes 10 s, so the third download is interrupted after 8.5 s.
        #expect(
            actions.kinds == [
                .done(Edition(number: 0), sends: 1), .done(Edition(number: 1), sends: 1),
                .interrupt(Edition(number: 2)),
            ])
        test.push(.background, ["sport", "morning"], at: .seconds(100))
        #expect(test.advance(to: .seconds(200)).done.map(\.time) == [.seconds(103)])
    }

    @Test func `an app in the foreground downloads for longer than 30 seconds`() {
        var test = TestFleet(kilobytes: 100_000) { $0.opens = HourlyShare(1) }
        let opening = test.conditions().nextOpening(after: test.hours.first, before: test.hours.next)!
        test.push(at: opening)
        #expect(test.advance(to: opening + 60).done.map(\.time) == [opening + 41.5])
    }

    @Test func `a push during a run is delivered after it`() {
        var test = TestFleet()
        test.push(.background, ["a"], at: .seconds(0))
        #expect(test.push(.background, ["b"], at: .seconds(5)).isEmpty)
        let actions = test.advance(to: .seconds(100))
        #expect(actions.wakeUps == [.seconds(13.5)] && actions.done.count == 2)
    }
}
