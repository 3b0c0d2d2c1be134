package import RedisProtocol
package import Registry
import Segments
import StoreProtocol

/// The keys of a registry with some devices, as commands that write them to an empty Redis.
///
/// The image is made from the documented layout and not by the code that registers devices, so that tests of readers do not
/// depend on that code.
package struct RegistryImage {
    /// Commands that write plain keys.
    package private(set) var commands: [RESPCommand] = []
    /// The place of each device, by its id.
    package private(set) var places: [String: DevicePlace] = [:]
    private let keys: RegistryKeys

    private struct Partition {
        var names = AttributeNames()
        var next = 0
        var devices = 0
        /// The bitmap of each attribute, by the number of the attribute's name and by chunk.
        var bits: [Int: [Int: OrdinalChunk]] = [:]
    }

    /// - Parameters:
    ///   - gap: the number of ordinals without a device after each device, as if devices had been removed.
    ///   - buckets: the number of buckets of each index.
    package init(
        app: String, _ records: [DeviceRecord], partitions count: Int = RegistryKeys.partitions, gap: Int = 0,
        buckets: Int = 3
    ) {
        keys = RegistryKeys(app: app, partitions: count)
        var partitions = Array(repeating: Partition(), count: count)
        var entries: [RegistryIndex: [Int: [IndexField: IndexEntry]]] = [:]
        func point(_ index: RegistryIndex, _ hash: RegistryHash, to place: DevicePlace) {
            entries[index, default: [:]][hash.partition(of: count), default: [:]][
                hash.field, default: .init()
            ]
            .insert(place)
        }
        for record in records {
            let number = keys.partition(ofDevice: record.id)
            let place = DevicePlace(partition: number, ordinal: partitions[number].next)
            places[record.id] = place
            write(record, at: place, to: &partitions[number])
            partitions[number].next += 1 + gap
            point(.id, RegistryHash(id: record.id), to: place)
            if let user = record.user { point(.user, RegistryHash(id: user), to: place) }
            for entry in record.addresses { point(.token, RegistryHash(entry.address), to: place) }
        }
        for (index, parts) in entries {
            for (number, fields) in parts {
                for (field, entry) in fields {
                    let key = RegistryKey.index(index, bucket: field.bucket(of: buckets))
                    add("HSET", key, number, [field.bytes, entry.bytes(of: index)])
                }
            }
        }
        for (number, partition) in partitions.enumerated() { add(partition, number, buckets: buckets) }
        var command = RESPCommand("HSET", key: Keys(app: app).registry)
        for word in ["format", "1", "partitions", "\(count)"] { command.append(word) }
        commands.append(command)
    }

    private mutating func write(_ record: DeviceRecord, at place: DevicePlace, to partition: inout Partition)
    {
        for name in record.attributes(SeenBitmaps()).sorted(by: { $0.text < $1.text }) {
            guard let number = partition.names.add(name) else { continue }
            let (chunk, bit) = place.ordinal.quotientAndRemainder(dividingBy: OrdinalChunk.size)
            partition.bits[number, default: [:]][chunk, default: .init()][UInt16(clamping: bit)] = true
        }
        partition.devices += 1
        let field = RegistryKey.recordField(of: place.ordinal)
        add(
            "HSET", .records(of: place.ordinal), place.partition,
            [Array(field.utf8), record.bytes(names: partition.names) ?? []])
    }

    private mutating func add(_ partition: Partition, _ number: Int, buckets: Int) {
        guard partition.devices > 0 else { return }
        var meta = ["version", "1", "next", "\(partition.next)", "devices", "\(partition.devices)"]
        for index in RegistryIndex.allCases { meta += [index.bucketsField, "\(buckets)"] }
        add("HSET", .meta, number, meta.map { Array($0.utf8) })
        for (name, value) in partition.names.all {
            add("HSET", .names, number, [Array(name.text.utf8), Array("\(value)".utf8)])
        }
        for (name, chunks) in partition.bits {
            for (chunk, bits) in chunks { add("SET", .bits(name: name, chunk: chunk), number, [bits.bytes]) }
        }
    }

    private mutating func add(_ name: String, _ key: RegistryKey, _ partition: Int, _ words: [[UInt8]]) {
        var command = RESPCommand(name, key: key.key(keys.keys(ofPartition: partition)))
        for word in words { command.append(word) }
        commands.append(command)
    }
}
