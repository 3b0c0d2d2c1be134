import StoreProtocol

/// The changes of one index of one partition, with the division of buckets.
struct PlannedIndex {
    typealias Entry = (field: IndexField, entry: PlannedEntry)

    let index: RegistryIndex
    /// The entries that the plan read, in the order of their fields.
    private let entries: [Entry]
    /// The number of buckets before the plan.
    private let buckets: Int
    /// The number of buckets after the plan.
    let bucketsAfter: Int
    /// The entries of the buckets that are divided, as they were read.
    private var divided: [IndexField: [UInt8]] = [:]

    /// - Parameter entries: the entries that the plan read, in any order, each field once.
    init(
        _ index: RegistryIndex, _ entries: [Entry], _ cache: PartitionCache, bucketEntries mean: Int
    ) {
        (self.index, buckets) = (index, cache.buckets(of: index))
        self.entries = entries.sorted { $0.field < $1.field }
        let added = entries.reduce(0) { $0 + Self.added(from: $1.entry.read, to: $1.entry.final) }
        let wanted = (cache.entries(of: index) + added + mean - 1) / mean
        // A plan adds at most as many buckets as entries, even if the stored count of entries is wrong.
        bucketsAfter = max(buckets, min(wanted, buckets + max(0, added)))
    }

    /// The buckets that exist before the plan and are divided.
    var dividedBuckets: [Int] {
        Array(Set((buckets..<bucketsAfter).map(IndexField.divided).filter { $0 < buckets })).sorted()
    }

    mutating func addDivided(_ content: [(field: [UInt8], value: [UInt8])]) {
        for (field, value) in content {
            if let field = IndexField(bytes: field) { divided[field] = value }
        }
    }

    /// Whether this is the step that divides buckets if the index needs more buckets.
    func divides(in step: PlanStep) -> Bool { step == Self.lastStep(of: index) }

    /// The changes of a step, and the number of entries that the step adds or, if negative, removes.
    func write(_ step: PlanStep) -> (changes: [PartitionChange], added: Int) {
        var written: [Int: [[UInt8]]] = [:]
        var removed: [Int: [[UInt8]]] = [:]
        let isLast = divides(in: step)
        var added = 0
        for (field, entry) in entries {
            guard let (before, after) = states(of: entry, step) else { return ([], 0) }
            added += Self.added(from: before, to: after)
            let place = field.bucket(of: buckets)
            let target = isLast ? field.bucket(of: bucketsAfter) : place
            guard before != after || place != target else { continue }
            if !before.isEmpty, after.isEmpty || place != target {
                removed[place, default: []].append(field.bytes)
            }
            if !after.isEmpty { written[target, default: []] += [field.bytes, after.bytes(of: index)] }
        }
        if isLast { moveDivided(&written, &removed) }
        return (commands(written, removed), added)
    }

    /// Moves the entries of divided buckets to their new buckets, except entries that the plan changes, which
    /// ``write(_:)`` moves.
    private func moveDivided(_ written: inout [Int: [[UInt8]]], _ removed: inout [Int: [[UInt8]]]) {
        guard !divided.isEmpty else { return }
        let planned = Set(entries.map(\.field))
        for (field, value) in divided.sorted(by: { $0.key < $1.key }) where !planned.contains(field) {
            let (place, target) = (field.bucket(of: buckets), field.bucket(of: bucketsAfter))
            guard place != target else { continue }
            removed[place, default: []].append(field.bytes)
            written[target, default: []] += [field.bytes, value]
        }
    }

    private func commands(_ written: [Int: [[UInt8]]], _ removed: [Int: [[UInt8]]]) -> [PartitionChange] {
        func changes(
            _ command: PartitionChange.Command, _ buckets: [Int: [[UInt8]]], by size: Int
        ) -> [PartitionChange] {
            buckets.sorted { $0.key < $1.key }.flatMap { bucket, words in
                PartitionChange.split(
                    command, RegistryKey.index(index, bucket: bucket).suffix, words, by: size)
            }
        }
        return changes(.setFields, written, by: 2) + changes(.removeFields, removed, by: 1)
    }

    /// The step that adds entries to the index. Only this step divides buckets.
    private static func lastStep(of index: RegistryIndex) -> PlanStep { index == .id ? .register : .point }

    /// The states of an entry before and after a step; nil if the index does not change in this step. The index by id
    /// changes only in the step `register`, together with the records.
    private func states(
        of entry: PlannedEntry, _ step: PlanStep
    ) -> (before: IndexEntry, after: IndexEntry)? {
        switch (index, step) {
        case (.id, .register): (entry.read, entry.final)
        case (.id, _): nil
        case (_, .leave): (entry.read, entry.left)
        case (_, .register): nil
        case (_, .point): (entry.left, entry.final)
        }
    }

    /// 1 if the entry exists only after the change, -1 if it exists only before, else 0.
    private static func added(from old: IndexEntry, to new: IndexEntry) -> Int {
        (new.isEmpty ? 0 : 1) - (old.isEmpty ? 0 : 1)
    }
}
