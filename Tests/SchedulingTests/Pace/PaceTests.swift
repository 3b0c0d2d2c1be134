import Scheduling
import Testing

struct PaceTests {
    private static let origin = ContinuousClock.now

    private static func spans(_ ranges: (Int64, Int64)...) -> TimeRangeSet {
        TimeRangeSet(ranges.map { UTCTime(seconds: $0.0)..<UTCTime(seconds: $0.1) })
    }

    /// Asks at a time in milliseconds of both clocks, and takes what is available.
    private static func take(_ pace: inout Pace, left: Int, at milliseconds: Int64) -> Int {
        let count = pace.available(
            left: left, at: UTCTime(milliseconds: milliseconds), origin + .milliseconds(milliseconds))
        pace.take(count)
        return count
    }

    @Test func `permits nothing out of the allowed times`() {
        var pace = Pace(Self.spans((10, 20), (30, 40)), isEven: false, ceiling: 100)
        for (time, count) in [
            (9_900, 0), (9_999, 0), (10_000, 0), (10_050, 5), (19_999, 26), (20_000, 0), (25_000, 0),
            (30_000, 0), (30_040, 0), (30_050, 5), (30_080, 0), (30_100, 5),
            (39_999, 26), (40_000, 0), (50_000, 0),
        ] as [(Int64, Int)] {
            #expect(Self.take(&pace, left: 1_000, at: time) == count, "at \(time)")
        }
    }

    @Test func `the even rate is what is left by the time that is left`() {
        // The allowed times have 102 seconds in two parts. The reserve is a fiftieth of them, but at most 2 seconds.
        var pace = Pace(Self.spans((0, 52), (60, 110)), isEven: true, ceiling: 1_000)
        for (time, left, rate) in [
            (0, 1_000, 10), (2_000, 980, 10), (10_000, 900, 10), (50_000, 500, 10), (60_000, 480, 10),
            // After a pause the rate is higher.
            (83_000, 500, 20), (98_000, 500, 50), (98_000, 20_000, 1_000),
        ] as [(Int64, Int, Double)] {
            _ = pace.available(left: left, at: UTCTime(milliseconds: time), Self.origin + .milliseconds(time))
            #expect(pace.rate == rate, "at \(time)")
        }
    }

    @Test func `a pause and an outage earn no credit`() {
        var pace = Pace(Self.spans((0, 10_000)), isEven: false, ceiling: 100)
        #expect(Self.take(&pace, left: 1_000_000, at: 0) == 0)
        #expect(Self.take(&pace, left: 1_000_000, at: 100) == 10)
        #expect(Self.take(&pace, left: 1_000_000, at: 3_600_000) == 26)
        #expect(Self.take(&pace, left: 1_000_000, at: 3_600_050) == 5)
    }

    @Test func `jumps of the wall clock earn no credit`() {
        var pace = Pace(Self.spans((0, 100_000)), isEven: false, ceiling: 100)
        var total = 0
        for step in 0..<1_000 {
            let jump: Int64 = step % 2 == 0 ? 0 : 50_000_000
            let count = pace.available(
                left: 1_000_000, at: UTCTime(milliseconds: 1_000 + Int64(step) * 10 + jump),
                Self.origin + .milliseconds(step * 10))
            pace.take(count)
            total += count
        }
        #expect((995...1_000).contains(total))
    }

    @Test func `a monotonic clock that goes back costs nothing`() {
        var pace = Pace(Self.spans((0, 10_000)), isEven: false, ceiling: 100)
        #expect(Self.take(&pace, left: 1_000, at: 5_000) == 0)
        let time = UTCTime(milliseconds: 5_100)
        #expect(pace.available(left: 1_000, at: time, Self.origin + .milliseconds(1_000)) == 0)
        #expect(pace.available(left: 1_000, at: time, Self.origin + .milliseconds(1_060)) == 6)
    }

    @Test func `waits for the pushes of 50 ms, or for all that are left`() {
        var pace = Pace(Self.spans((0, 10)), isEven: false, ceiling: 1_000)
        for (time, left, count) in [
            (0, 5_000, 0), (49, 5_000, 0), (50, 5_000, 50), (60, 5_000, 0), (60, 10, 10), (80, 21, 0),
            (80, 20, 20),
            // The credit is lost at the end of the allowed times.
            (9_960, 5_000, 251), (9_998, 5_000, 0), (9_999, 5_000, 39),
        ] as [(Int64, Int, Int)] {
            #expect(Self.take(&pace, left: left, at: time) == count, "\(left) at \(time)")
        }
    }

    @Test func `a lower ceiling counts at once`() {
        var pace = Pace(Self.spans((0, 10_000)), isEven: false, ceiling: 1_000)
        #expect(Self.take(&pace, left: 1_000_000, at: 0) == 0)
        pace.change(ceiling: 10)
        #expect(pace.rate == 10)
        #expect(Self.take(&pace, left: 1_000_000, at: 100) == 1)
        pace.change(ceiling: 1_000)
        #expect(Self.take(&pace, left: 1_000_000, at: 200) == 100)
    }

    @Test func `says when to ask again`() {
        var pace = Pace(Self.spans((10, 20), (30, 40)), isEven: false, ceiling: 100)
        #expect(pace.nextCall(after: UTCTime(seconds: 5)) == UTCTime(seconds: 10))
        #expect(Self.take(&pace, left: 1_000, at: 10_000) == 0)
        // The pushes of 50 ms.
        #expect(pace.nextCall(after: UTCTime(seconds: 10)) == UTCTime(milliseconds: 10_050))
        #expect(pace.nextCall(after: UTCTime(milliseconds: 19_990)) == UTCTime(milliseconds: 19_999))
        #expect(pace.nextCall(after: UTCTime(milliseconds: 19_999)) == UTCTime(seconds: 30))
        #expect(pace.nextCall(after: UTCTime(seconds: 25)) == UTCTime(seconds: 30))
        #expect(pace.nextCall(after: UTCTime(milliseconds: 39_999)) == nil)
        #expect(pace.nextCall(after: UTCTime(seconds: 40)) == nil)
        pace.change(ceiling: 0.001)
        #expect(pace.nextCall(after: UTCTime(seconds: 10)) == UTCTime(seconds: 11))
    }

    @Test func `knows what will not be sent`() {
        let pace = Pace(Self.spans((10, 20), (30, 40)), isEven: true, ceiling: 100)
        #expect(pace.shortfall(left: 2_000, at: UTCTime(seconds: 0)) == 0)
        #expect(pace.shortfall(left: 2_001, at: UTCTime(seconds: 0)) == 1)
        #expect(pace.shortfall(left: 2_001, at: UTCTime(seconds: 35)) == 1_501)
        #expect(pace.shortfall(left: 7, at: UTCTime(seconds: 40)) == 7)
        #expect(pace.shortfall(left: .max, at: UTCTime(seconds: 40)) == .max)
    }
}
