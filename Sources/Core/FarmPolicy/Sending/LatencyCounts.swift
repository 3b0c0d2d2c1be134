/// Counts durations in buckets whose bounds double: 1, 2, 4 … ms. The last bucket counts durations above 35 minutes.
///
/// Counting costs a few instructions. Counts of several processes can be added.
package struct LatencyCounts: Equatable, Sendable {
    /// The number of buckets; the last bucket has no bound.
    package static let buckets = 23

    package private(set) var counts = [UInt64](repeating: 0, count: buckets)
    /// The sum of all counted durations.
    package private(set) var milliseconds: UInt64 = 0

    package init() {}

    /// - Parameter counts: the counts of consecutive buckets; the first count belongs to bucket `first`. Counts beyond the last
    ///   bucket go into the last bucket.
    package init(_ counts: some Collection<UInt64>, from first: Int, milliseconds: UInt64) {
        for (index, count) in counts.enumerated() {
            self.counts[min(first + index, Self.buckets - 1)] &+= count
        }
        self.milliseconds = milliseconds
    }

    /// The upper bound of a bucket in milliseconds; nil for the last bucket.
    package static func bound(_ bucket: Int) -> UInt64? { bucket < buckets - 1 ? 1 << UInt64(bucket) : nil }

    package mutating func add(_ milliseconds: UInt64, times: UInt64 = 1) {
        let bits = milliseconds < 2 ? 0 : UInt64.bitWidth - (milliseconds - 1).leadingZeroBitCount
        counts[min(bits, Self.buckets - 1)] &+= times
        self.milliseconds &+= milliseconds &* times
    }

    package mutating func add(_ other: LatencyCounts) {
        for bucket in counts.indices { counts[bucket] &+= other.counts[bucket] }
        milliseconds &+= other.milliseconds
    }

    package var total: UInt64 { counts.reduce(0, &+) }
    package var isEmpty: Bool { counts.allSatisfy { $0 == 0 } }

    /// The duration in milliseconds that `percent` percent of the counted durations do not exceed, interpolated within a bucket;
    /// nil without counts.
    package func percentile(_ percent: Double) -> Double? {
        let total = total
        guard total > 0 else { return nil }
        let wanted = Double(total) * percent / 100
        var before = 0.0
        for (bucket, count) in counts.enumerated() where count > 0 {
            let upper = Double(Self.bound(bucket) ?? 2 << UInt64(Self.buckets - 2))
            let lower = bucket == 0 ? 0 : Double(1 << UInt64(bucket - 1))
            if before + Double(count) >= wanted {
                return lower + (upper - lower) * max(0, wanted - before) / Double(count)
            }
            before += Double(count)
        }
        return nil
    }

    /// Returns the counts since `earlier`, an earlier state of these counts.
    package func since(_ earlier: LatencyCounts) -> LatencyCounts {
        var difference = self
        for bucket in counts.indices { difference.counts[bucket] &-= earlier.counts[bucket] }
        difference.milliseconds &-= earlier.milliseconds
        return difference
    }
}
