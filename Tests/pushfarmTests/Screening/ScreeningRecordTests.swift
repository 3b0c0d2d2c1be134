import Testing

@testable import pushfarm

/// Checks the content of a progress file.
struct ScreeningRecordTests {
    private var sample: ScreeningRecord {
        var record = ScreeningRecord(
            app: "demo", run: "abc", fingerprint: 0xF00D, chunk: 250, since: "1780000000123-4")
        record.bytes = [650, 70, 0]
        record.done = RangeSet([0..<3, 5..<6])
        for verdict: ScreeningVerdict in [
            .good, .good, .invalid(reason: "Unregistered", time: 1, wasKnown: false),
            .invalid(reason: "Feedback", time: 1, wasKnown: true),
            .undecided(reason: "exhausted", cause: "throttled"),
        ] { record.tally.add(verdict) }
        return record
    }

    @Test func `a record is read as it was written`() {
        #expect(ScreeningRecord(sample.text) == sample)
        let fresh = ScreeningRecord(app: "a", run: "b", fingerprint: .max, chunk: 1, since: "0-0")
        #expect(ScreeningRecord(fresh.text) == fresh)
    }

    @Test func `a truncated record is refused`() {
        let text = sample.text
        for length in 0..<text.count {
            #expect(ScreeningRecord(String(text.prefix(length))) == nil, "\(length)")
        }
    }

    @Test(arguments: [
        ("screening 1", "screening 2"), ("chunk 250", "chunk 0"), ("bytes 650 70 0", "bytes 650 70"),
        ("bytes 650", "bytes -1"), ("done 0-2 5", "done 2-0"), ("done 0-2 5", "done 0-2 2"),
        ("known 1", "known one"), ("good 2", "fine 2"), ("file f00d", "file xyz"),
    ])
    func `an impossible record is refused`(part: String, other: String) {
        let text = sample.text
        #expect(text.contains(part))
        #expect(ScreeningRecord(text.replacing(part, with: other)) == nil)
    }

    @Test(arguments: [
        ([], ""), ([3], "3"), ([0, 1, 2], "0-2"), ([2, 0, 1], "0-2"), ([0, 2], "0 2"),
        ([5, 3, 4, 9, 9, 8], "3-5 8-9"),
        ([1, 3, 5, 2, 4], "1-5"),
    ])
    func `numbers are stored as ranges`(numbers: [Int], text: String) {
        var ranges = RangeSet<Int>()
        for number in numbers { ranges.insert(contentsOf: number..<number + 1) }
        #expect(Figures.ranges(ranges) == text && ScreeningRecord.numbers(text) == ranges)
        for number in 0..<12 { #expect(ranges.contains(number) == numbers.contains(number)) }
    }

    @Test func `the rate is kept and a late check catches up only a little`() {
        let start = ContinuousClock.now
        var pace = ScreeningPace(rate: 100)
        #expect(pace.pause(at: start) == .zero)
        pace.sent(10, at: start)
        #expect(pace.pause(at: start) == .milliseconds(100))
        // This send is 50 ms late, so the next send comes 50 ms sooner.
        pace.sent(10, at: start + .milliseconds(150))
        #expect(pace.pause(at: start + .milliseconds(150)) == .milliseconds(50))
        // This send is very late, but the pace must not allow all overdue sends at once.
        pace.sent(10, at: start + .seconds(60))
        pace.sent(10, at: start + .seconds(60))
        pace.sent(10, at: start + .seconds(60))
        #expect(pace.pause(at: start + .seconds(60)) == .milliseconds(100))
    }

    @Test(arguments: [(1, 10, 1000), (100, 25, 1000), (2000, 500, 20_000), (100_000, 500, 20_000)])
    func `jobs are small and few are open`(rate: Int, chunk: Int, ahead: Int) {
        #expect(ScreeningPace.chunk(rate: rate, limit: 100_000) == chunk)
        #expect(ScreeningPace.chunk(rate: rate, limit: 7) == 7)
        #expect(ScreeningPace.ahead(rate: rate) == ahead)
    }
}
