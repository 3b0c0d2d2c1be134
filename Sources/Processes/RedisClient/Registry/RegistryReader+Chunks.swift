import RedisProtocol
package import Registry
package import Segments
package import StoreProtocol

/// Reads what a campaign needs: the devices of one chunk, and the places of devices.
extension RegistryReader {
    /// Reads the bitmaps of one chunk.
    ///
    /// - Parameter number: the number of the chunk in its partition.
    /// - Returns: nil if a bitmap of the plan cannot be read.
    package func evaluation(
        of plan: SegmentPlan, partition: Int, chunk number: Int
    ) async throws(StoreError) -> ChunkEvaluation? {
        var evaluation = ChunkEvaluation(plan)
        let commands = plan.numbers.map { name in
            command("GET", .bits(name: name, chunk: number), in: partition)
        }
        let replies: [RESPValue]
        do throws(StoreError) { replies = try await self.replies(commands) } catch {
            if error.isWrongType { return nil }
            throw error
        }
        for (name, reply) in zip(plan.numbers, replies) where !reply.isNull {
            guard let bytes = reply.bytes, evaluation.add(bytes, of: name) else { return nil }
        }
        return evaluation
    }

    /// Reads the records at these places like ``devices(at:)``, but a hash that cannot be read does not fail the call: the places
    /// of the hash are unreadable.
    package func readableDevices(at places: [DevicePlace]) async throws(StoreError) -> DevicePage {
        do throws(StoreError) { return try await devices(at: places) } catch {
            guard error.isUnreadable else { throw error }
        }
        var page = DevicePage()
        let blocks = Dictionary(grouping: places) { place in
            DevicePlace(partition: place.partition, ordinal: place.ordinal / RegistryKey.blockSize)
        }
        for (_, part) in blocks.sorted(by: { $0.key < $1.key }) {
            do throws(StoreError) {
                let found = try await devices(at: part)
                page.devices += found.devices
                page.unreadable += found.unreadable
            } catch {
                guard error.isUnreadable else { throw error }
                page.unreadable += part
            }
        }
        return page
    }

    /// Finds the places of devices.
    ///
    /// - Returns: the places of the devices that the registry has, without an order. Other ids are left out.
    package func places(ofDevices ids: some Sequence<String>) async throws(StoreError) -> [DevicePlace] {
        try await namedPlaces(ofDevices: ids).map(\.place)
    }

    /// Finds the places of devices, as ``places(ofDevices:)`` does, and returns them with their ids.
    package func namedPlaces(
        ofDevices ids: some Sequence<String>
    ) async throws(StoreError) -> [(id: String, place: DevicePlace)] {
        let names = Set(ids.map { Array($0.utf8) })
        let hashes = Array(Set(ids.map { RegistryHash(id: $0) }))
        var candidates: Set<DevicePlace> = []
        for entry in try await readableEntries(hashes) {
            candidates.formUnion(entry.places.filter { $0.partition < keys.count })
        }
        // Two ids can have the same index entry, so the records decide.
        return try await readableDevices(at: candidates.sorted()).devices.compactMap { device in
            names.contains(Array(device.record.id.utf8)) ? (device.record.id, device.place) : nil
        }
    }

    /// The entries of ids in the index by id. Entries that cannot be read are left out.
    private func readableEntries(_ hashes: [RegistryHash]) async throws(StoreError) -> [IndexEntry] {
        do throws(StoreError) { return try await entries(.id, hashes) } catch {
            guard error.isUnreadable else { throw error }
        }
        var found: [IndexEntry] = []
        for hash in hashes {
            do throws(StoreError) { found += try await entries(.id, [hash]) } catch {
                guard error.isUnreadable else { throw error }
            }
        }
        return found
    }
}

extension StoreError {
    /// Whether a key has another type than the command needs.
    var isWrongType: Bool {
        if case .redis(.refused(let error)) = self { error.code == "WRONGTYPE" } else { false }
    }

    /// Whether data in Redis is not what the reader expects.
    var isUnreadable: Bool {
        if case .unexpectedReply = self { true } else { isWrongType }
    }
}
