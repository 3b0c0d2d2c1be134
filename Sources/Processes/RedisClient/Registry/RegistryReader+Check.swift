import RedisProtocol
package import Registry
package import StoreProtocol

/// Compares records with indexes, bitmaps and counts.
extension RegistryReader {
    private static let blocksAtOnce = 32
    private static let bitmapsAtOnce = 128
    private static let bucketsAtOnce = 32
    private static let membersAtOnce = 10_000
    /// How many keys Redis examines for one reply to SCAN.
    private static let keysAtOnce = 1000

    /// The result of a check.
    package struct CheckResult: Sendable {
        package let faults: [String]
        /// The parts of the registry that ``RegistryRepair`` can correct.
        package let damage: RegistryDamage
        package let devices: Int
        /// Whether the registry was changed during the check, so that some faults may be none.
        package let hasChanged: Bool
    }

    /// Reads the whole registry and finds its faults.
    ///
    /// - Parameter progress: is called with the number of records that were read so far.
    package func check(
        _ progress: (_ devices: Int) -> Void = { _ in }
    ) async throws(StoreError) -> CheckResult {
        var check = RegistryCheck(partitions: keys.count, extent: try await extent())
        let before = try await versions()
        for partition in 0..<keys.count {
            let cache = try await cache(of: partition)
            check.begin(cache)
            try await readRecords(of: partition, &check)
            try await readBitmaps(of: partition, &check)
            check.endPartition(free: try await freeOrdinals(of: partition))
            progress(check.devices)
        }
        for (partition, index, count) in check.buckets {
            check.begin(index, of: partition)
            try await readBuckets(count, index, of: partition, &check)
            check.end(index, of: partition)
        }
        check.finish()
        return CheckResult(
            faults: check.faults.texts, damage: check.damage, devices: check.devices,
            hasChanged: try await versions() != before)
    }

    /// Finds how far the keys of the registry reach, by a scan of all keys of Redis. Without the right to scan, the result is as if
    /// no key were beyond the counts.
    private func extent() async throws(StoreError) -> RegistryExtent {
        var extent = RegistryExtent(keys)
        var cursor = "0"
        repeat {
            // An app's name has no characters with a meaning in patterns.
            let command = RESPCommand(
                "SCAN", cursor, "MATCH", "{pushfarm:\(app):r*", "COUNT", "\(Self.keysAtOnce)")
            guard let page = try await results([command])[0]?.array else { return extent }
            guard page.count == 2, let next = page[0].text, let found = page[1].array else {
                throw .unexpectedReply("SCAN")
            }
            for key in found { extent.add(key.bytes ?? []) }
            cursor = next
        } while cursor != "0"
        return extent
    }

    /// The members of the sorted set `free`; nil if the key is not a sorted set.
    func freeOrdinals(of partition: Int) async throws(StoreError) -> [String]? {
        var members: [String] = []
        while true {
            let page = try await results([
                command(
                    "ZRANGE", .free, in: partition, "\(members.count)",
                    "\(members.count + Self.membersAtOnce - 1)")
            ])[0]
            guard let found = page?.array else { return nil }
            members += found.map { $0.text ?? "" }
            if found.count < Self.membersAtOnce { return members }
        }
    }

    /// The version of each partition.
    private func versions() async throws(StoreError) -> [String?] {
        try await results((0..<keys.count).map { command("HGET", .meta, in: $0, "version") }).map { $0?.text }
    }

    /// The present state of a partition.
    func cache(of partition: Int) async throws(StoreError) -> PartitionCache {
        let hashes = try await results([
            command("HGETALL", .meta, in: partition), command("HGETALL", .names, in: partition),
        ])
        guard let meta = hashes[0], let names = hashes[1] else { throw unreadable(.meta, in: partition) }
        return PartitionCache(
            meta: meta.fields,
            names: AttributeNames(fields: names.pairs.map { ($0.name.text ?? "", $0.value.text ?? "") }))
    }

    private func readRecords(
        of partition: Int, _ check: inout RegistryCheck
    ) async throws(StoreError) {
        let blocks = check.blocks
        for start in stride(from: 0, to: blocks, by: Self.blocksAtOnce) {
            let some = start..<min(start + Self.blocksAtOnce, blocks)
            let replies = try await results(
                some.map { command("HGETALL", .records(block: $0), in: partition) })
            for (block, reply) in zip(some, replies) {
                guard let reply else {
                    check.add(
                        nil, at: DevicePlace(partition: partition, ordinal: block * RegistryKey.blockSize))
                    continue
                }
                for (name, value) in reply.pairs {
                    let number = name.text.flatMap { Int(foreign: $0) } ?? 0
                    let ordinal = min(
                        block * RegistryKey.blockSize + max(0, number), DevicePlace.largestOrdinal)
                    check.add(value.bytes, at: DevicePlace(partition: partition, ordinal: ordinal))
                }
            }
        }
    }

    private func readBitmaps(
        of partition: Int, _ check: inout RegistryCheck
    ) async throws(StoreError) {
        let bitmaps = check.bitmaps
        for start in stride(from: 0, to: bitmaps.count, by: Self.bitmapsAtOnce) {
            let some = bitmaps[start..<min(start + Self.bitmapsAtOnce, bitmaps.count)]
            let replies = try await results(some.map { command("GET", $0, in: partition) })
            for (key, reply) in zip(some, replies) {
                check.add(reply.flatMap { $0.isNull ? [] : $0.bytes }, of: key)
            }
        }
    }

    private func readBuckets(
        _ count: Int, _ index: RegistryIndex, of partition: Int, _ check: inout RegistryCheck
    ) async throws(StoreError) {
        for start in stride(from: 0, to: count, by: Self.bucketsAtOnce) {
            let some = start..<min(start + Self.bucketsAtOnce, count)
            let replies = try await results(
                some.map { command("HGETALL", .index(index, bucket: $0), in: partition) })
            for (bucket, reply) in zip(some, replies) {
                let fields = reply?.pairs.map { ($0.name.bytes ?? [], $0.value.bytes ?? []) }
                check.add(fields, index, of: partition, bucket: bucket)
            }
        }
    }
}
