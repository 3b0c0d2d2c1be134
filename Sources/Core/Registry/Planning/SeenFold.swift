import Segments
import StoreProtocol

/// One act that keeps the number of bitmaps of `seen` small, in one partition: the days of a week are folded into one bitmap, or
/// the bitmaps of days that were folded earlier are deleted.
///
/// An act is one call of the script `apply_changes`, so a crash leaves the partition as it was before or after the act.
package struct SeenFold: Sendable {
    private enum Act {
        /// Writes the bitmap of a week. The bitmaps of the days stay.
        case fold(SeenWeek)
        /// Deletes the bitmaps of days.
        case delete
    }

    /// The largest number of days whose bitmaps one act deletes.
    private static let mostDeleted = 7
    private static let secondsOfDay: Int64 = 86_400

    package let partition: Int
    private let act: Act
    /// The numbers of the days' names, by day.
    private let days: [(day: Int, number: Int)]
    private let before: PartitionCache
    private let now: Int64

    /// The act that a partition needs now; nil if it needs none.
    ///
    /// - Parameters:
    ///   - cache: the partition's present state.
    ///   - now: the time in Unix seconds.
    package init?(partition: Int, _ cache: PartitionCache, now: Int64) {
        (self.partition, before, self.now) = (partition, cache, now)
        let days = cache.names.all.compactMap { name, number in name.seenDay.map { (day: $0, number: number) }
        }
        .filter { $0.day >= cache.seen.keptDay }.sorted { $0.day < $1.day }
        let first = DeviceRecord.day(of: now) - SeenBitmaps.days + 1
        if let oldest = days.first(where: { $0.day >= cache.seen.firstDay }),
            case let week = SeenWeek(of: oldest.day), week.lastDay < first
        {
            act = .fold(week)
            self.days = days.filter { $0.day >= cache.seen.firstDay && $0.day <= week.lastDay }
        } else if cache.seen.keptDay < cache.seen.firstDay,
            now - cache.seen.folded >= SeenBitmaps.keptSeconds
        {
            act = .delete
            self.days = Array(days.filter { $0.day < cache.seen.firstDay }.prefix(Self.mostDeleted))
        } else {
            return nil
        }
    }

    private var chunks: Range<Int> { 0..<(before.next + OrdinalChunk.size - 1) / OrdinalChunk.size }

    /// The reads that the act needs: the bitmaps of the week's days.
    package var reads: [RegistryRead] {
        guard case .fold = act else { return [] }
        return chunks.flatMap { chunk in
            days.map {
                RegistryRead(partition: partition, key: .bits(name: $0.number, chunk: chunk), part: .string)
            }
        }
    }

    /// Why an act cannot be carried out.
    package enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// The bitmap of a day is damaged.
        case damaged(RegistryKey)
        /// The dictionary of the partition is full.
        case names

        package var description: String {
            switch self {
            case .damaged(let key): "the bitmap \(key.suffix) is damaged"
            case .names: "the dictionary of attribute names is full"
            }
        }
    }

    /// The changes of the act, and the partition's state after the changes.
    ///
    /// - Parameter replies: the replies to ``reads``, in their order.
    package func changes(
        _ replies: [RegistryReply]
    ) throws(Failure) -> (changes: PlannedChanges, after: PartitionCache) {
        var after = before
        var changes: [PartitionChange] = []
        switch act {
        case .fold(let week):
            let name = AttributeName.seen(week: week)
            let isNew = after.names.number(of: name) == nil
            guard let number = after.names.add(name) else { throw .names }
            if isNew {
                changes.append(
                    PartitionChange(
                        .setFields, RegistryKey.names.suffix,
                        [Array(name.text.utf8), Array("\(number)".utf8)]))
            }
            for (chunk, bits) in zip(chunks, try weeks(replies)) where !bits.isEmpty {
                changes.append(
                    PartitionChange(
                        .setString, RegistryKey.bits(name: number, chunk: chunk).suffix, [bits.bytes]))
            }
            after.seen = SeenBitmaps(
                firstDay: week.lastDay + 1, keptDay: before.seen.keptDay, folded: now)
        case .delete:
            for (_, number) in days {
                changes += chunks.map {
                    PartitionChange(.delete, RegistryKey.bits(name: number, chunk: $0).suffix, [])
                }
            }
            let isLast = days.count < Self.mostDeleted
            after.seen = SeenBitmaps(
                firstDay: before.seen.firstDay,
                keptDay: isLast ? before.seen.firstDay : (days.last?.day ?? 0) + 1, folded: before.seen.folded
            )
        }
        if let meta = after.metaChange(since: before) { changes.append(meta) }
        after.version += 1
        return (PlannedChanges(partition: partition, version: before.version, changes: changes), after)
    }

    /// The bits of the week for each chunk.
    private func weeks(_ replies: [RegistryReply]) throws(Failure) -> [OrdinalChunk] {
        let reads = reads
        var weeks: [OrdinalChunk] = []
        for start in stride(from: 0, to: reads.count, by: max(1, days.count)) {
            var week = OrdinalChunk()
            for index in start..<start + days.count {
                guard index < replies.count, case .string(let bytes) = replies[index],
                    week.formUnion(bytes: bytes)
                else { throw .damaged(reads[index].key) }
            }
            weeks.append(week)
        }
        return weeks
    }
}
