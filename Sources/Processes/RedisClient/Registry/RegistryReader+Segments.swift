package import PushModel
package import Registry
package import Segments
package import StoreProtocol

extension RegistryReader {
    /// The number of terms that are evaluated at the same time. The bitmaps of 256 terms have 2 MB.
    private static let termsAtOnce = 256

    /// The number of devices in each segment.
    ///
    /// - Parameters:
    ///   - today: the number of days since 1970-01-01 UTC.
    ///   - partitions: the result of ``partitions()``.
    package func counts(
        of expressions: [SegmentExpression], today: Int, _ partitions: [PartitionState]
    ) async throws(StoreError) -> [Int] {
        var counts: [Int] = []
        while counts.count < expressions.count {
            var (group, terms): ([SegmentExpression], Int) = ([], 0)
            for expression in expressions.dropFirst(counts.count) {
                terms += expression.terms.count
                guard group.isEmpty || terms <= Self.termsAtOnce else { break }
                group.append(expression)
            }
            counts += try await self.counts(ofGroup: group, today, partitions)
        }
        return counts
    }

    private func counts(
        ofGroup group: [SegmentExpression], _ today: Int, _ partitions: [PartitionState]
    ) async throws(StoreError) -> [Int] {
        var counts = [Int](repeating: 0, count: group.count)
        var scan = SegmentScan(group, today: today, self, partitions)
        while let chunk = try await scan.next() {
            for index in counts.indices { counts[index] += chunk.evaluation.devices(of: index).count }
        }
        return counts
    }

    /// A random sample of a segment's devices, and the number of all devices of the segment. All devices of the segment
    /// have the same probability to be in the sample.
    ///
    /// - Parameter size: the number of devices in the sample. If the segment has fewer devices, the sample contains all
    ///   of them. Devices with unreadable records are missing from the sample.
    package func sample(
        _ size: Int, of expression: SegmentExpression, today: Int, _ partitions: [PartitionState],
        using random: inout SeededRandom
    ) async throws(StoreError) -> (devices: [StoredDevice], count: Int) {
        var sample = RandomSample<DevicePlace>(size: size)
        var scan = SegmentScan([expression], today: today, self, partitions)
        while let chunk = try await scan.next() {
            let ordinals = chunk.evaluation.devices().ordinals
            sample.offer(ordinals.count, using: &random) { index in
                DevicePlace(
                    partition: chunk.partition,
                    ordinal: chunk.number * OrdinalChunk.size + Int(ordinals[index]))
            }
        }
        return (try await devices(at: sample.elements).devices, sample.offered)
    }
}
