import StoreProtocol

/// What the writer of a registry remembers about a partition: its version, its counts and its dictionary.
package struct PartitionCache: Equatable, Sendable {
    /// The number of changes that were applied to the partition.
    package internal(set) var version: Int
    /// The lowest ordinal that was never used.
    package internal(set) var next: Int
    /// The number of devices. Ordinals below ``next`` that no device has are free.
    package internal(set) var devices: Int
    package internal(set) var names: AttributeNames
    package internal(set) var seen: SeenBitmaps
    private var id = IndexSize()
    private var token = IndexSize()
    private var user = IndexSize()

    /// - Parameters:
    ///   - meta: the fields of the hash `meta`. Missing or invalid numbers count as 0.
    ///   - names: the fields of the hash `names`.
    package init(meta: [String: String], names: AttributeNames) {
        func number(_ field: String) -> Int { max(0, meta[field].flatMap { Int(foreign: $0) } ?? 0) }
        version = number("version")
        next = min(number("next"), DevicePlace.largestOrdinal + 1)
        devices = number("devices")
        self.names = names
        seen = SeenBitmaps(
            firstDay: number(SeenBitmaps.firstDayField), keptDay: number(SeenBitmaps.keptDayField),
            folded: Int64(number(SeenBitmaps.foldedField)))
        for index in RegistryIndex.allCases {
            self[index] = IndexSize(
                entries: number(index.entriesField), buckets: max(1, number(index.bucketsField)))
        }
    }

    private subscript(index: RegistryIndex) -> IndexSize {
        get {
            switch index {
            case .id: id
            case .token: token
            case .user: user
            }
        }
        set {
            switch index {
            case .id: id = newValue
            case .token: token = newValue
            case .user: user = newValue
            }
        }
    }

    /// The number of hashes that can have records.
    package var blocks: Int { (next + RegistryKey.blockSize - 1) / RegistryKey.blockSize }

    package func entries(of index: RegistryIndex) -> Int { self[index].entries }
    package func buckets(of index: RegistryIndex) -> Int { self[index].buckets }

    /// Notes that Redis has raised the partition's version without other changes.
    package mutating func countVersion() { version += 1 }

    mutating func add(entries count: Int, to index: RegistryIndex) {
        self[index].entries = max(0, entries(of: index) + count)
    }

    mutating func setBuckets(_ count: Int, of index: RegistryIndex) { self[index].buckets = count }

    /// The change that writes the counts which differ from `old`; nil if all counts are equal. The script writes the version.
    func metaChange(since old: PartitionCache) -> PartitionChange? {
        var words: [[UInt8]] = []
        func write(_ field: String, _ number: Int, _ before: Int) {
            if number != before { words += [Array(field.utf8), Array("\(number)".utf8)] }
        }
        write("next", next, old.next)
        write("devices", devices, old.devices)
        write(SeenBitmaps.firstDayField, seen.firstDay, old.seen.firstDay)
        write(SeenBitmaps.keptDayField, seen.keptDay, old.seen.keptDay)
        write(SeenBitmaps.foldedField, Int(foreign: seen.folded), Int(foreign: old.seen.folded))
        for index in RegistryIndex.allCases {
            write(index.entriesField, entries(of: index), old.entries(of: index))
            write(index.bucketsField, buckets(of: index), old.buckets(of: index))
        }
        return words.isEmpty ? nil : PartitionChange(.setFields, RegistryKey.meta.suffix, words)
    }
}

/// The numbers of entries and of buckets of one index of a partition.
private struct IndexSize: Equatable, Sendable {
    var entries = 0
    var buckets = 1
}
