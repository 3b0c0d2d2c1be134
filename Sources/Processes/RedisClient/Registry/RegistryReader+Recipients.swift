import RedisProtocol
package import Registry
package import StoreProtocol

/// Looks up the recipients of jobs.
extension RegistryReader {
    /// The devices of each user, or the device with each id.
    ///
    /// An index entry can point to the record of another device; such a record is left out of the result. A record that cannot be
    /// read is left out, too.
    ///
    /// - Parameters:
    ///   - names: ids of users or devices. All are read in a few pipelines, so the caller limits their number.
    ///   - index: `user` or `id`.
    /// - Returns: for each name, in order, the devices in the order of their places.
    package func recipients(
        _ names: [String], _ index: RegistryIndex
    ) async throws(StoreError) -> [[RecordAddresses]] {
        let entries = try await entries(index, names.map { RegistryHash(id: $0) })
        let places = entries.map { $0.places.filter { $0.partition < keys.count } }
        var records: [DevicePlace: RecordAddresses] = [:]
        for (place, value) in try await self.records(at: Array(Set(places.joined()))) {
            records[place] = value.bytes.flatMap { try? RecordAddresses(bytes: $0) }
        }
        return zip(names, places).map { name, places in
            places.compactMap { records[$0] }.filter { $0.belongs(to: name, index) }
        }
    }

    /// The device with each of these addresses. Addresses that no device has are left out.
    ///
    /// - Parameter addresses: all are read in a few pipelines, so the caller limits their number.
    package func devices(
        with addresses: [DeviceAddress]
    ) async throws(StoreError) -> [DeviceAddress: StoredDevice] {
        let entries = try await entries(.token, addresses.map { RegistryHash($0) })
        let places = entries.map { $0.places.filter { $0.partition < keys.count } }
        let page = try await devices(at: Array(Set(places.joined())))
        let devices = Dictionary(page.devices.map { ($0.place, $0) }, uniquingKeysWith: { first, _ in first })
        var found: [DeviceAddress: StoredDevice] = [:]
        for (address, places) in zip(addresses, places) {
            found[address] = places.lazy.compactMap { devices[$0] }.first {
                $0.record.has(address: address.identity)
            }
        }
        return found
    }

    /// The index entries of these hashes, in order; an entry without places for a hash that the index does not have.
    func entries(
        _ index: RegistryIndex, _ hashes: [RegistryHash]
    ) async throws(StoreError) -> [IndexEntry] {
        var found = [IndexEntry](repeating: IndexEntry(), count: hashes.count)
        var missing = Array(hashes.indices)
        var known: [Int: Int] = [:]
        // The bucket of a missing entry may have been divided meanwhile. So the entry is looked up again if the number of buckets
        // has changed. The number only grows, so this loop ends.
        while !missing.isEmpty {
            let buckets = try await buckets(index, Set(missing.map { hashes[$0].partition(of: keys.count) }))
            missing.removeAll { number in
                let partition = hashes[number].partition(of: keys.count)
                return known[partition] == buckets[partition]
            }
            let replies = try await replies(
                missing.map { command(index, hashes[$0], buckets: buckets) })
            var rest: [Int] = []
            for (number, value) in zip(missing, replies) {
                guard !value.isNull else {
                    rest.append(number)
                    continue
                }
                let partition = hashes[number].partition(of: keys.count)
                guard let bytes = value.bytes, let entry = IndexEntry(bytes: bytes, of: index, in: partition)
                else {
                    throw unreadable(
                        .index(index, bucket: hashes[number].field.bucket(of: buckets[partition] ?? 1)),
                        in: partition)
                }
                found[number] = entry
            }
            (missing, known) = (rest, buckets)
        }
        return found
    }

    private func command(
        _ index: RegistryIndex, _ hash: RegistryHash, buckets: [Int: Int]
    ) -> RESPCommand {
        let partition = hash.partition(of: keys.count)
        let key = RegistryKey.index(index, bucket: hash.field.bucket(of: buckets[partition] ?? 1))
        var command = command("HGET", key, in: partition)
        command.append(hash.field.bytes)
        return command
    }

    /// The number of buckets of an index in each of these partitions.
    private func buckets(
        _ index: RegistryIndex, _ partitions: Set<Int>
    ) async throws(StoreError) -> [Int: Int] {
        let partitions = partitions.sorted()
        let replies = try await replies(
            partitions.map { command("HGET", .meta, in: $0, index.bucketsField) })
        return Dictionary(
            zip(partitions, replies.map(PartitionState.buckets)), uniquingKeysWith: { first, _ in first })
    }
}
