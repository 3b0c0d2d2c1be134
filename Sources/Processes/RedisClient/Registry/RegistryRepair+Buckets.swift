import RedisProtocol
import Registry
import StoreProtocol

/// Buckets of indexes.
extension RegistryRepair {
    private static let devicesAtOnce = 500

    func repair(
        _ place: RegistryDamage.BucketPlace, lacking devices: Set<DevicePlace>,
        _ summary: inout RegistryRepairSummary
    ) async throws(StoreError) {
        let all = devices.sorted()
        var isCorrected = false
        for start in stride(from: 0, to: max(1, all.count), by: Self.devicesAtOnce) {
            let some = Set(all[start..<min(start + Self.devicesAtOnce, all.count)])
            let (added, removed) = try await repair(place, some)
            summary.added += added
            summary.removed += removed
            isCorrected = isCorrected || added + removed > 0
        }
        if isCorrected { summary.buckets += 1 }
    }

    /// Corrects a bucket until it agrees with the records.
    ///
    /// The bucket and the records are usually in different partitions. A writer may have read an entry before the repair removes
    /// it, and may then write a record that needs the entry. So after the repair has removed places, it raises the versions of their
    /// partitions. If the writer has not written the record by then, it can no longer do so and must plan again. If the writer has
    /// written the record, the repair finds the record when it reads again, and adds the place again.
    ///
    /// - Parameter lacking: devices that the bucket may lack.
    private func repair(
        _ place: RegistryDamage.BucketPlace, _ lacking: Set<DevicePlace>
    ) async throws(StoreError) -> (added: Int, removed: Int) {
        var (added, removed) = (0, 0)
        var touched: Set<DevicePlace> = []
        for attempt in 0..<Self.attempts {
            guard let correction = try await correction(of: place, lacking.union(touched)) else { break }
            guard try await apply(correction.changes) else {
                await wait(after: attempt)
                continue
            }
            added += correction.added.count
            removed += correction.removed.count + correction.strange
            for partition in correction.partitions(afterRemovalOf: touched)
            where partition != place.partition && partition < reader.keys.count {
                guard try await raiseVersion(of: partition) else { break }
            }
            touched.formUnion(correction.removed)
        }
        return (added, removed)
    }

    private func correction(
        of place: RegistryDamage.BucketPlace, _ candidates: Set<DevicePlace>
    ) async throws(StoreError) -> BucketRepair.Correction? {
        let cache = try await reader.cache(of: place.partition)
        let key = RegistryKey.index(place.index, bucket: place.bucket)
        let reply = try await reader.results([reader.command("HGETALL", key, in: place.partition)])[0]
        var repair = BucketRepair(
            place, cache, fields: reply?.pairs.map { ($0.name.bytes ?? [], $0.value.bytes ?? []) },
            keys: reader.keys)
        let places = repair.places.union(candidates).filter { $0.partition < reader.keys.count }
        let page = try await reader.readableDevices(at: places.sorted())
        for device in page.devices { repair.add(device.record, at: device.place) }
        for device in page.unreadable { repair.add(nil, at: device) }
        return repair.correction
    }
}
