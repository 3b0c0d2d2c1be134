package import RedisProtocol

/// One command of ``ApplyChanges``. Executing the command a second time changes nothing, because it sets values and does not add
/// to them.
package struct PartitionChange: Equatable, Sendable {
    /// The Redis command.
    package enum Command: String, CaseIterable, Sendable {
        case setFields = "HSET"
        case removeFields = "HDEL"
        case setString = "SET"
        case setRange = "SETRANGE"
        /// Sets and clears bits: words `SET`, `u` with the number of bits, offset, and the bits as a number.
        case setBits = "BITFIELD"
        case delete = "DEL"
        case addMembers = "ZADD"
        case removeMembers = "ZREM"
    }

    /// The largest number of words of a change. A script can pass at most about 8,000 words to one Redis command.
    package static let mostWords = 7000

    package let command: Command
    /// The key without the partition's prefix.
    package let key: String
    /// The command's words after the key: at most ``mostWords``.
    package let words: [[UInt8]]

    package init(_ command: Command, _ key: String, _ words: [[UInt8]]) {
        (self.command, self.key, self.words) = (command, key, words)
    }
}

/// Applies changes to one partition of a registry, if the partition has the expected version.
///
/// The caller sends this request with the ``Keys`` of the partition. If the reply is lost, the caller may repeat the call with
/// the same name: the changes are applied once.
package struct ApplyChanges: Request {
    /// The partition's new version.
    package typealias Reply = Int

    package static var script: Script? { .applyChanges }

    private let version: Int
    private let name: String
    private let changes: [PartitionChange]

    /// - Parameters:
    ///   - version: the version of the partition when the caller read it; 0 for a new partition.
    ///   - name: a name that no other call for this partition has.
    package init(version: Int, name: String, changes: [PartitionChange]) {
        (self.version, self.name, self.changes) = (version, name, changes)
    }

    package var words: [any CommandArgument] { [ScriptKeys.prefix, version, name, ChangeWords(changes)] }
}

/// Writes changes as the words that follow the version and the name of the call.
private struct ChangeWords: CommandArgument {
    private let changes: [PartitionChange]

    init(_ changes: [PartitionChange]) { self.changes = changes }

    func write(to command: inout RESPCommand, _ keys: Keys) {
        for change in changes {
            command.append(change.command.rawValue)
            command.append(change.key)
            command.append(change.words.count)
            for word in change.words { command.append(word) }
        }
    }
}

/// Reads fields of a hash. The caller sends this request with the ``Keys`` of a partition.
package struct ReadFields: Request {
    package let words: [any CommandArgument]

    /// - Parameter key: the key without the partition's prefix.
    package init(key: String, fields: [[UInt8]]) {
        words = ["HMGET", SuffixedKey(key), ArgumentList(fields)]
    }

    /// The values in the order of the fields; nil for a field that the hash does not have.
    package static func read(_ value: RESPValue) throws(StoreError) -> [[UInt8]?] {
        guard let values = value.array else { throw .unexpectedReply("\(Self.self)") }
        return values.map(\.bytes)
    }
}

/// Reads a whole hash. The caller sends this request with the ``Keys`` of a partition.
package struct ReadHash: Request {
    package let words: [any CommandArgument]

    /// - Parameter key: the key without the partition's prefix.
    package init(key: String) { words = ["HGETALL", SuffixedKey(key)] }

    package static func read(_ value: RESPValue) throws(StoreError) -> [(field: [UInt8], value: [UInt8])] {
        guard let words = value.array, words.count.isMultiple(of: 2) else {
            throw .unexpectedReply("\(Self.self)")
        }
        return value.pairs.map { ($0.name.bytes ?? [], $0.value.bytes ?? []) }
    }
}

/// Reads the number of bytes of a string. The caller sends this request with the ``Keys`` of a partition.
package struct ReadLength: Request {
    /// The number of bytes; 0 if the key does not exist.
    package typealias Reply = Int

    package let words: [any CommandArgument]

    /// - Parameter key: the key without the partition's prefix.
    package init(key: String) { words = ["STRLEN", SuffixedKey(key)] }
}

/// Reads a string. The caller sends this request with the ``Keys`` of a partition.
package struct ReadString: Request {
    package let words: [any CommandArgument]

    /// - Parameter key: the key without the partition's prefix.
    package init(key: String) { words = ["GET", SuffixedKey(key)] }

    /// The bytes; empty if the key does not exist.
    package static func read(_ value: RESPValue) throws(StoreError) -> [UInt8] {
        guard !value.isNull else { return [] }
        guard let bytes = value.bytes else { throw .unexpectedReply("\(Self.self)") }
        return bytes
    }
}

/// Reads members of a sorted set, lowest scores first. The caller sends this request with the ``Keys`` of a partition.
package struct ReadLowestMembers: Request {
    package typealias Reply = [String]

    package let words: [any CommandArgument]

    /// - Parameters:
    ///   - key: the key without the partition's prefix.
    ///   - limit: only members with lower scores.
    package init(key: String, below limit: Int64, count: Int) {
        words = [
            "ZRANGE", SuffixedKey(key), "-inf", "(\(limit)", "BYSCORE", "LIMIT", 0, count,
        ]
    }
}

/// Writes a field of the app's registry settings, unless the field exists.
package struct InitRegistryField: Request {
    /// Whether the field was written.
    package typealias Reply = Bool

    package let words: [any CommandArgument]

    package init(_ field: String, _ value: Int) {
        words = ["HSETNX", AppKey(\.registry), field, value]
    }
}

/// Reads two settings of the app's registry: its format version and its number of partitions.
package struct ReadRegistrySettings: Request {
    package struct Reply: Equatable, Sendable {
        /// The version number of the format that all keys of the registry have; nil if there is no registry.
        package let format: Int?
        /// The number of partitions; nil if there is no registry.
        package let partitions: Int?
    }

    package static let formatField = "format"
    package static let partitionsField = "partitions"

    package let words: [any CommandArgument] = [
        "HMGET", AppKey(\.registry), Self.formatField, Self.partitionsField,
    ]

    package init() {}

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        let fields = try ReplyFields(value, [formatField, partitionsField], Self.self)
        return Reply(format: fields.integer(formatField), partitions: fields.integer(partitionsField))
    }
}

/// A key in two parts: the prefix of all keys of the partition, and the suffix of this key.
private struct SuffixedKey: CommandArgument {
    private let suffix: String

    init(_ suffix: String) { self.suffix = suffix }

    func write(to command: inout RESPCommand, _ keys: Keys) {
        command.append(keys.prefix + Array(suffix.utf8))
    }
}
