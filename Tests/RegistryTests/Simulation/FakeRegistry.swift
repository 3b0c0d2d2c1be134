import RandomTesting
import Segments
import StoreProtocol

@testable import Registry

/// The partitions of a registry in memory. The fake carries out reads like Redis, and changes like the script.
struct FakeRegistry {
    enum Value: Equatable {
        case hash([[UInt8]: [UInt8]])
        case string([UInt8])
        case sorted([String: Int64])
    }

    enum Answer: Equatable {
        case applied
        case stale(Int)
    }

    let keys: RegistryKeys
    private(set) var partitions: [[String: Value]]
    private var lastNames: [String]

    init(_ keys: RegistryKeys) {
        self.keys = keys
        partitions = keys.allPartitions.map { _ in [:] }
        lastNames = keys.allPartitions.map { _ in "" }
    }

    func version(of partition: Int) -> Int { Int(meta(partition)["version"] ?? "0") ?? 0 }

    func meta(_ partition: Int) -> [String: String] { texts(partition, "meta") }

    /// What a writer learns about a partition.
    func cache(of partition: Int) -> PartitionCache {
        PartitionCache(
            meta: meta(partition),
            names: AttributeNames(fields: texts(partition, "names").map { ($0.key, $0.value) }))
    }

    private func texts(_ partition: Int, _ key: String) -> [String: String] {
        Dictionary(
            hash(partition, key).map {
                (String(decoding: $0, as: UTF8.self), String(decoding: $1, as: UTF8.self))
            },
            uniquingKeysWith: { first, _ in first })
    }

    func hash(_ partition: Int, _ key: String) -> [[UInt8]: [UInt8]] {
        if case .hash(let fields) = partitions[partition][key] { fields } else { [:] }
    }

    func string(_ partition: Int, _ key: String) -> [UInt8] {
        if case .string(let bytes) = partitions[partition][key] { bytes } else { [] }
    }

    func sorted(_ partition: Int, _ key: String) -> [String: Int64] {
        if case .sorted(let members) = partitions[partition][key] { members } else { [:] }
    }

    /// The records of a hash, by the numbers of their fields.
    func records(_ partition: Int, block: Int) -> [Int: [UInt8]] {
        var records: [Int: [UInt8]] = [:]
        for (field, bytes) in hash(partition, RegistryKey.records(block: block).suffix) {
            records[Int(String(decoding: field, as: UTF8.self)) ?? 0] = bytes
        }
        return records
    }

    /// The bytes of a string, empty if the key does not exist; nil for another type.
    func readableString(_ partition: Int, _ key: String) -> [UInt8]? {
        switch partitions[partition][key] {
        case nil: []
        case .string(let bytes): bytes
        default: nil
        }
    }

    /// The fields of a bucket, none if the key does not exist; nil for another type.
    func bucket(
        _ partition: Int, _ index: RegistryIndex, _ bucket: Int
    ) -> [(field: [UInt8], value: [UInt8])]? {
        switch partitions[partition][RegistryKey.index(index, bucket: bucket).suffix] {
        case nil: []
        case .hash(let fields): fields.map { ($0.key, $0.value) }
        default: nil
        }
    }

    /// The members of the sorted set `free`; nil for another type.
    func freeMembers(_ partition: Int) -> [String]? {
        switch partitions[partition]["free"] {
        case nil: []
        case .sorted(let members): Array(members.keys)
        default: nil
        }
    }

    func reply(to read: RegistryRead) -> RegistryReply {
        let key = read.key.suffix
        switch read.part {
        case .fields(let fields): return .fields(fields.map { hash(read.partition, key)[$0] })
        case .hash: return .hash(hash(read.partition, key).map { ($0.key, $0.value) })
        case .length: return .length(string(read.partition, key).count)
        case .string: return .string(string(read.partition, key))
        case .lowestMembers(let below, let count):
            let members = sorted(read.partition, key).filter { $0.value < below }
                .sorted { ($0.value, $0.key) < ($1.value, $1.key) }
            return .members(members.prefix(count).map(\.key))
        }
    }

    /// Does what `apply_changes` does.
    mutating func apply(_ changes: PlannedChanges, name: String) -> Answer {
        let (partition, version) = (changes.partition, version(of: changes.partition))
        if version == changes.version + 1, lastNames[partition] == name { return .applied }
        guard version == changes.version else { return .stale(version) }
        for change in changes.changes { apply(change, partition) }
        apply(
            PartitionChange(.setFields, "meta", [Array("version".utf8), Array("\(version + 1)".utf8)]),
            partition)
        lastNames[partition] = name
        return .applied
    }

    private mutating func apply(_ change: PartitionChange, _ partition: Int) {
        let (key, words) = (change.key, change.words)
        precondition(words.count <= PartitionChange.mostWords)
        switch change.command {
        case .setFields:
            var fields = hash(partition, key)
            for index in stride(from: 0, to: words.count, by: 2) { fields[words[index]] = words[index + 1] }
            partitions[partition][key] = .hash(fields)
        case .removeFields:
            var fields = hash(partition, key)
            for word in words { fields[word] = nil }
            partitions[partition][key] = fields.isEmpty ? nil : .hash(fields)
        case .setString: partitions[partition][key] = .string(words[0])
        case .setRange:
            var bytes = string(partition, key)
            let offset = number(words[0])
            bytes += [UInt8](repeating: 0, count: max(0, offset + words[1].count - bytes.count))
            bytes.replaceSubrange(offset..<offset + words[1].count, with: words[1])
            partitions[partition][key] = .string(bytes)
        case .setBits:
            var bytes = string(partition, key)
            for index in stride(from: 0, to: words.count, by: 4) {
                let width = number(Array(words[index + 1].dropFirst()))
                for place in 0..<width {
                    let bit = number(words[index + 2]) + place
                    let mask = UInt8(0x80) >> UInt8(bit % 8)
                    let isSet = number(words[index + 3]) >> (width - 1 - place) & 1 == 1
                    if isSet { bytes[bit / 8] |= mask } else { bytes[bit / 8] &= ~mask }
                }
            }
            partitions[partition][key] = .string(bytes)
        case .delete: partitions[partition][key] = nil
        case .addMembers:
            var members = sorted(partition, key)
            for index in stride(from: 0, to: words.count, by: 2) {
                members[String(decoding: words[index + 1], as: UTF8.self)] = Int64(number(words[index]))
            }
            partitions[partition][key] = .sorted(members)
        case .removeMembers:
            var members = sorted(partition, key)
            for word in words { members[String(decoding: word, as: UTF8.self)] = nil }
            partitions[partition][key] = members.isEmpty ? nil : .sorted(members)
        }
    }

    private func number(_ word: [UInt8]) -> Int { Int(String(decoding: word, as: UTF8.self)) ?? -1 }
}
