import StoreProtocol

/// The changes of one index of one partition, with the division of buckets.
struct PlannedIndex {
    let index: RegistryIndex
    private let entries: [IndexField: PlannedEntry]
    /// The number of buckets before the plan.
    private let buckets: Int
    /// The number of buckets after the plan.
    let bucketsAfter: Int
    /// The entries of the buckets that are divided, as they were read.
    private var divided: [IndexField: [UInt8]] = [:]

    /// - Parameter entries: the entries that the plan read.
    init(
        _ index: RegistryIndex, _ entries: [IndexField: PlannedEntry], _ cache: PartitionCache,
        bucketEntries mean: Int
    ) {
        (self.index, self.entries, buckets) = (index, entries, cache.buckets(of: index))
        let added = entries.values.reduce(0) { $0 + $1.added(from: \.read, to: \.final) }
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
        let (old, new) = Self.parts(of: step, index)
        var added = 0
        for (field, entry) in entries.sorted(by: { $0.key < $1.key }) {
            let (before, after) = (entry[keyPath: old], entry[keyPath: new])
            added += entry.added(from: old, to: new)
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
        for (field, value) in divided.sorted(by: { $0.key < $1.key }) where entries[field] == nil {
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

    /// The states of an entry before and after a step. The index by id changes only in the step `register`, together
    /// with the records.
    private static func parts(
        of step: PlanStep, _ index: RegistryIndex
    ) -> (KeyPath<PlannedEntry, IndexEntry>, KeyPath<PlannedEntry, IndexEntry>) {
        switch (index, step) {
        case (.id, .register): (\.read, \.final)
        case (.id, _): (\.read, \.read)
        case (_, .leave): (\.read, \.left)
        case (_, .register): (\.left, \.left)
        case (_, .point): (\.left, \.final)
        }
    }
}

extension PlannedEntry {
    /// 1 if the entry exists only after the change, -1 if it exists only before, else 0.
    fileprivate func added(
        from old: KeyPath<PlannedEntry, IndexEntry>, to new: KeyPath<PlannedEntry, IndexEntry>
    ) -> Int {
        (self[keyPath: new].isEmpty ? 0 : 1) - (self[keyPath: old].isEmpty ? 0 : 1)
    }
}
