import RandomTesting
import Scheduling
import Testing

struct TimeRangeSetTests {
    private static func range(_ from: Int64, _ to: Int64) -> Range<UTCTime> {
        UTCTime(milliseconds: from)..<UTCTime(milliseconds: to)
    }

    private static func numbers(_ spans: TimeRangeSet) -> [[Int64]] {
        spans.ranges.map { [$0.lowerBound.milliseconds, $0.upperBound.milliseconds] }
    }

    @Test func `merges ranges that overlap or touch`() {
        let spans = TimeRangeSet([
            Self.range(50, 60), Self.range(0, 10), Self.range(10, 20), Self.range(15, 18), Self.range(30, 30),
        ])
        #expect(Self.numbers(spans) == [[0, 20], [50, 60]])
        #expect(spans.total == 30)
        #expect(TimeRangeSet([Self.range(5, 5)]).isEmpty)
    }

    @Test func `measures positions and slices`() {
        let spans = TimeRangeSet([Self.range(0, 20), Self.range(50, 60)])
        let positions = [-5, 0, 19, 20, 35, 50, 55, 60, 99].map {
            spans.position(of: UTCTime(milliseconds: $0))
        }
        #expect(positions == [0, 0, 19, 20, 20, 20, 25, 30, 30])
        #expect(spans.remaining(at: UTCTime(milliseconds: 55)) == 5)
        #expect(Self.numbers(spans.slice(10..<25)) == [[10, 20], [50, 55]])
        #expect(Self.numbers(spans.slice(20..<99)) == [[50, 60]])
        #expect(spans.slice(30..<40).isEmpty)
        #expect(spans.range(at: UTCTime(milliseconds: 20)) == nil)
        #expect(spans.range(at: UTCTime(milliseconds: 50)) == Self.range(50, 60))
        #expect(spans.range(after: UTCTime(milliseconds: 0)) == Self.range(50, 60))
        #expect(spans.range(after: UTCTime(milliseconds: -1)) == Self.range(0, 20))
        #expect(spans.range(after: UTCTime(milliseconds: 50)) == nil)
    }

    @Test func `agrees with sets of single milliseconds`() throws {
        var random = SplitMix(seed: 31)
        for _ in 0..<2_000 {
            func make() -> (TimeRangeSet, Set<Int64>) {
                let ranges = (0..<random.int(in: 0...6)).map { _ in
                    let from = Int64(random.int(in: 0...80))
                    return from..<from + Int64(random.int(in: 0...20))
                }
                return (
                    TimeRangeSet(ranges.map { Self.range($0.lowerBound, $0.upperBound) }),
                    Set(ranges.flatMap { $0 })
                )
            }
            func set(_ spans: TimeRangeSet) -> Set<Int64> {
                Set(spans.ranges.flatMap { $0.lowerBound.milliseconds..<$0.upperBound.milliseconds })
            }
            let ((first, ones), (second, twos)) = (make(), make())
            try BrokenInvariant.unless(set(first) == ones && first.total == ones.count, "\(first)")
            try BrokenInvariant.unless(
                set(first.subtracting(second)) == ones.subtracting(twos), "\(first) without \(second)")
            let clip = Self.range(20, 70)
            try BrokenInvariant.unless(
                set(first.clipped(to: clip)) == ones.intersection(20..<70), "\(first) in \(clip)")
            let slice = Set(ones.sorted().dropFirst(7).prefix(13))
            try BrokenInvariant.unless(set(first.slice(7..<20)) == slice, "a slice of \(first)")
        }
    }
}
