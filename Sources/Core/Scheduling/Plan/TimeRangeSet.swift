/// A set of times: ascending ranges that neither overlap nor touch.
///
/// A position in the set is the number of milliseconds of the set that have passed. So the set measures sending time without
/// the times between its ranges.
package struct TimeRangeSet: Hashable, Sendable {
    package let ranges: [Range<UTCTime>]
    /// For each range, how many milliseconds of the set are before the range.
    private let positions: [Int64]
    /// The total length of the ranges in milliseconds.
    package let total: Int64

    package static let empty = TimeRangeSet([])

    /// - Parameter ranges: ranges in any order, which may overlap.
    package init(_ ranges: [Range<UTCTime>]) {
        var merged: [Range<UTCTime>] = []
        for range in ranges.filter({ !$0.isEmpty }).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, range.lowerBound <= last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        var position: Int64 = 0
        var positions: [Int64] = []
        positions.reserveCapacity(merged.count)
        for range in merged {
            positions.append(position)
            position = position.adding(saturating: range.milliseconds)
        }
        (self.ranges, self.positions, total) = (merged, positions, position)
    }

    package var isEmpty: Bool { ranges.isEmpty }

    /// Returns the range that a time is in; nil if the time is not in the set.
    package func range(at time: UTCTime) -> Range<UTCTime>? {
        guard let index = lastIndex(startingBy: time), time < ranges[index].upperBound else { return nil }
        return ranges[index]
    }

    /// Returns the first range that begins after a time.
    package func range(after time: UTCTime) -> Range<UTCTime>? {
        ranges[checked: (lastIndex(startingBy: time) ?? -1) + 1]
    }

    /// Returns how many milliseconds of the set are before a time.
    package func position(of time: UTCTime) -> Int64 {
        guard let index = lastIndex(startingBy: time) else { return 0 }
        let inRange = min(time, ranges[index].upperBound).milliseconds - ranges[index].lowerBound.milliseconds
        return positions[index] + inRange
    }

    /// Returns how many milliseconds of the set are at a time or later.
    package func remaining(at time: UTCTime) -> Int64 { total - position(of: time) }

    /// Returns the part of the set between two positions. The positions may lie outside the set.
    package func slice(_ wanted: Range<Int64>) -> TimeRangeSet {
        var parts: [Range<UTCTime>] = []
        for (range, start) in zip(ranges, positions) {
            let from = max(wanted.lowerBound, start) - start
            let to = min(wanted.upperBound, start + range.milliseconds) - start
            guard from < to else { continue }
            parts.append(
                range.lowerBound.adding(milliseconds: from)..<range.lowerBound.adding(milliseconds: to))
        }
        return TimeRangeSet(parts)
    }

    /// Returns the part of the set that is in a range.
    package func clipped(to range: Range<UTCTime>) -> TimeRangeSet {
        TimeRangeSet(ranges.map { $0.clamped(to: range) })
    }

    /// Returns this set without the times of another set.
    package func subtracting(_ other: TimeRangeSet) -> TimeRangeSet {
        var parts: [Range<UTCTime>] = []
        var next = 0
        for range in ranges {
            var start = range.lowerBound
            while next < other.ranges.count, other.ranges[next].upperBound <= start { next += 1 }
            var index = next
            while index < other.ranges.count, other.ranges[index].lowerBound < range.upperBound {
                let hole = other.ranges[index]
                if start < hole.lowerBound { parts.append(start..<hole.lowerBound) }
                start = max(start, min(hole.upperBound, range.upperBound))
                index += 1
            }
            if start < range.upperBound { parts.append(start..<range.upperBound) }
        }
        return TimeRangeSet(parts)
    }

    private func lastIndex(startingBy time: UTCTime) -> Int? {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].lowerBound <= time { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? low - 1 : nil
    }
}

extension Range<UTCTime> {
    /// The length in milliseconds.
    package var milliseconds: Int64 { upperBound.milliseconds - lowerBound.milliseconds }
}
