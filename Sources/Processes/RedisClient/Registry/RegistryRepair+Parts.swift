import RedisProtocol
import Registry
import StoreProtocol

/// Counts and free ordinals.
extension RegistryRepair {
    private static let ordinalsAtOnce = 1000

    /// The changes that correct the counts of a partition.
    func counts(of partition: Int, _ damage: RegistryDamage) async throws(StoreError) -> PlannedChanges? {
        let cache = try await reader.cache(of: partition)
        let repair = CountRepair(partition: partition, cache)
        var counts = CountRepair.Counts()
        let blocks = max(cache.blocks, damage.blocks(ofPartition: partition))
        let sizes = try await sizes((0..<blocks).map { .records(block: $0) }, in: partition)
        counts.devices = sizes.reduce(0, +)
        if let last = sizes.lastIndex(where: { $0 > 0 }) {
            let fields = try await reader.results([
                reader.command("HKEYS", .records(block: last), in: partition)
            ])
            let highest = fields[0]?.array?.compactMap { $0.text.flatMap { Int(foreign: $0) } }.max() ?? 0
            counts.highest = last * RegistryKey.blockSize + min(max(0, highest), RegistryKey.blockSize - 1)
        }
        for index in RegistryIndex.allCases {
            let buckets = max(cache.buckets(of: index), damage.buckets(of: index, ofPartition: partition))
            let entries = try await self.sizes((0..<buckets).map { .index(index, bucket: $0) }, in: partition)
            counts.entries[index] = entries.reduce(0, +)
            counts.buckets[index] = buckets
        }
        if let free = try await reader.freeOrdinals(of: partition) {
            counts.strange = free.filter { !repair.isOrdinal($0) }
        } else {
            counts.isFreeUnreadable = true
        }
        return repair.changes(counts)
    }

    /// The numbers of fields of hashes; 0 for a key that does not exist or has another type.
    private func sizes(_ keys: [RegistryKey], in partition: Int) async throws(StoreError) -> [Int] {
        try await reader.results(keys.map { reader.command("HLEN", $0, in: partition) })
            .map { Int(clamping: $0?.integer ?? 0) }
    }

    /// Corrects which of these ordinals are free.
    func repair(
        _ ordinals: Set<Int>, of partition: Int, _ summary: inout RegistryRepairSummary
    ) async throws(StoreError) {
        let all = ordinals.sorted()
        for start in stride(from: 0, to: all.count, by: Self.ordinalsAtOnce) {
            let some = all[start..<min(start + Self.ordinalsAtOnce, all.count)]
            var changed = 0
            try await correct(partition) { () throws(StoreError) in
                let cache = try await reader.cache(of: partition)
                let used = try await reader.results(
                    some.map {
                        reader.command(
                            "HEXISTS", .records(of: $0), in: partition, RegistryKey.recordField(of: $0))
                    })
                let free = try await reader.results(
                    some.map { reader.command("ZSCORE", .free, in: partition, "\($0)") })
                return CountRepair(partition: partition, cache).changes(
                    used: Set(zip(some, used).filter { $0.1?.integer ?? 1 == 1 }.map(\.0)),
                    free: Set(zip(some, free).filter { $0.1?.isNull == false }.map(\.0)), of: Set(some),
                    now: reader.now)
            } then: {
                changed = some.count
            }
            summary.ordinals += changed
        }
    }
}

/// Bitmaps.
extension RegistryRepair {
    private static let namesAtOnce = 64
    private static let blocksAtOnce = 64

    func repair(
        _ bitmaps: RegistryDamage.Bitmaps, of place: RegistryDamage.ChunkPlace,
        _ summary: inout RegistryRepairSummary
    ) async throws(StoreError) {
        var corrected: Set<Int> = []
        // A bitmap that cannot be read is written as a whole. Until then, segments that use the bitmap fail, and contain no wrong
        // device.
        let all = Array(BitmapRepair.blocks(ofChunk: place.chunk))
        for names in Self.parts(of: bitmaps.unreadable.sorted(), Self.namesAtOnce) {
            corrected.formUnion(try await repair(names, all, of: place))
        }
        for names in Self.parts(of: bitmaps.names.subtracting(bitmaps.unreadable).sorted(), Self.namesAtOnce)
        {
            for blocks in Self.parts(of: bitmaps.blocks.sorted(), Self.blocksAtOnce) {
                corrected.formUnion(try await repair(names, blocks, of: place))
            }
        }
        summary.bitmaps += corrected.count
    }

    /// Corrects the bits of the devices in some hashes of records.
    ///
    /// - Returns: the bitmaps that were corrected.
    private func repair(
        _ names: [Int], _ blocks: [Int], of place: RegistryDamage.ChunkPlace
    ) async throws(StoreError) -> Set<Int> {
        var (planned, corrected): (Set<Int>, Set<Int>) = ([], [])
        try await correct(place.partition) { () throws(StoreError) in
            let cache = try await reader.cache(of: place.partition)
            var repair = BitmapRepair(cache, chunk: place.chunk)
            let records = try await reader.results(
                blocks.map { reader.command("HGETALL", .records(block: $0), in: place.partition) })
            for (block, reply) in zip(blocks, records) {
                guard let reply else { continue }
                repair.add(block: block, Self.records(reply))
            }
            let bitmaps = try await reader.results(
                names.map { reader.command("GET", .bits(name: $0, chunk: place.chunk), in: place.partition) })
            planned = []
            var changes: [PartitionChange] = []
            for (name, reply) in zip(names, bitmaps) {
                let bytes = reply.flatMap { $0.isNull ? [] : $0.bytes }
                guard let change = repair.change(of: name, bytes) else { continue }
                changes.append(change)
                planned.insert(name)
            }
            guard !changes.isEmpty else { return nil }
            return PlannedChanges(partition: place.partition, version: cache.version, changes: changes)
        } then: {
            corrected = planned
        }
        return corrected
    }

    private static func records(_ reply: RESPValue) -> [Int: [UInt8]] {
        var records: [Int: [UInt8]] = [:]
        for (name, value) in reply.pairs {
            guard let field = name.text.flatMap({ Int(foreign: $0) }) else { continue }
            records[field] = value.bytes ?? []
        }
        return records
    }

    private static func parts(of all: [Int], _ size: Int) -> [[Int]] {
        stride(from: 0, to: all.count, by: size).map { Array(all[$0..<min($0 + size, all.count)]) }
    }
}
