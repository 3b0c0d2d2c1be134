import RedisProtocol
package import Registry
package import StoreProtocol

/// Some devices, and the places whose records cannot be read.
package struct DevicePage: Sendable {
    package var devices: [StoredDevice] = []
    package var unreadable: [DevicePlace] = []

    package init() {}
}

/// Reads records.
extension RegistryReader {
    /// The number of hashes that one pipeline of ``records(at:)`` reads.
    private static let blocksAtOnce = 64

    /// Reads the records at these places. Places without a record are left out.
    /// - Returns: the devices in the order of their places.
    package func devices(at places: [DevicePlace]) async throws(StoreError) -> DevicePage {
        var page = DevicePage()
        for (place, value) in try await records(at: places) { try await read(value, at: place, into: &page) }
        return page
    }

    /// Reads the values of the records at these places; null for a place without a record.
    /// - Returns: the values in the order of their places.
    func records(
        at places: [DevicePlace]
    ) async throws(StoreError) -> [(place: DevicePlace, value: RESPValue)] {
        let blocks = Dictionary(grouping: places) { place in
            DevicePlace(partition: place.partition, ordinal: place.ordinal / RegistryKey.blockSize)
        }
        var records: [(place: DevicePlace, value: RESPValue)] = []
        var rest = blocks.sorted { ($0.key.partition, $0.key.ordinal) < ($1.key.partition, $1.key.ordinal) }[
            ...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.blocksAtOnce)
            rest = rest.dropFirst(part.count)
            let commands = part.map { block, places in
                var command = command("HMGET", .records(block: block.ordinal), in: block.partition)
                for place in places { command.append(RegistryKey.recordField(of: place.ordinal)) }
                return command
            }
            for ((block, places), reply) in zip(part, try await replies(commands)) {
                guard let values = reply.array, values.count == places.count else {
                    throw unreadable(.records(block: block.ordinal), in: block.partition)
                }
                for (place, value) in zip(places, values) { records.append((place, value)) }
            }
        }
        return records
    }

    /// Reads a record and adds it to the page.
    /// - Parameter value: the record's bytes; null if there is no record.
    func read(
        _ value: RESPValue, at place: DevicePlace, into page: inout DevicePage
    ) async throws(StoreError) {
        guard !value.isNull else { return }
        guard let bytes = value.bytes else { return page.unreadable.append(place) }
        let names = try await names(of: place.partition)
        do throws(DeviceRecordError) {
            page.devices.append(
                StoredDevice(place: place, record: try DeviceRecord(bytes: bytes, names: names)))
        } catch {
            // The record may contain an attribute name that was added after this process read the dictionary. So read
            // the dictionary again.
            guard case .unknownName = error,
                let record = try? DeviceRecord(
                    bytes: bytes, names: try await self.names(of: place.partition, newerThan: names))
            else { return page.unreadable.append(place) }
            page.devices.append(StoredDevice(place: place, record: record))
        }
    }
}

/// Finds devices by index. An index entry may also point to the record of another device, so the result contains only
/// the devices whose record matches.
extension RegistryReader {
    /// The device with this id.
    package func device(id: String) async throws(StoreError) -> DevicePage {
        try await devices(.id, RegistryHash(id: id)) { $0.id == id }
    }

    /// The devices of a user, in the order of their places.
    package func devices(ofUser user: String) async throws(StoreError) -> DevicePage {
        try await devices(.user, RegistryHash(id: user)) { $0.user == user }
    }

    /// The device that has this address.
    package func device(with address: DeviceAddress) async throws(StoreError) -> DevicePage {
        try await devices(.token, RegistryHash(address)) { $0.has(address: address.identity) }
    }

    private func devices(
        _ index: RegistryIndex, _ hash: RegistryHash, where isWanted: (DeviceRecord) -> Bool
    ) async throws(StoreError) -> DevicePage {
        let places = try await places(index, hash).filter { $0.partition < keys.count }
        var page = try await devices(at: places)
        page.devices.removeAll { !isWanted($0.record) }
        return page
    }

    /// The places in an index entry. If the entry is missing, the writer may have divided the bucket and moved the
    /// entry to another bucket. So this function looks again until the number of buckets stays the same.
    private func places(
        _ index: RegistryIndex, _ hash: RegistryHash
    ) async throws(StoreError) -> [DevicePlace] {
        let partition = hash.partition(of: keys.count)
        var known: Int?
        while true {
            let buckets = PartitionState.buckets(
                try await replies([command("HGET", .meta, in: partition, index.bucketsField)])[0])
            // The number of buckets only grows, so this loop ends.
            guard buckets != known else { return [] }
            known = buckets
            let key = RegistryKey.index(index, bucket: hash.field.bucket(of: buckets))
            var command = command("HGET", key, in: partition)
            command.append(hash.field.bytes)
            let value = try await replies([command])[0]
            guard !value.isNull else { continue }
            guard let bytes = value.bytes, let entry = IndexEntry(bytes: bytes, of: index, in: partition)
            else { throw unreadable(key, in: partition) }
            return entry.places
        }
    }
}
