import StoreProtocol

/// The changes of one partition's records and free ordinals in one step.
struct RecordChanges {
    private(set) var changes: [PartitionChange] = []
    /// The number of devices that the step adds or, if negative, removes.
    private(set) var added = 0

    /// - Parameter records: the records of the partition that change.
    init(
        _ records: [RecordChange], _ step: PlanStep, _ names: AttributeNames, _ ordinals: PlannedOrdinals,
        now: Int64
    ) {
        guard step != .point else { return }
        var written: [Int: [[UInt8]]] = [:]
        var removed: [Int: [[UInt8]]] = [:]
        for record in records {
            let (old, new) = step == .leave ? (record.read, record.left) : (record.left, record.final)
            guard old != new else { continue }
            let block = record.place.ordinal / RegistryKey.blockSize
            let field = Array(RegistryKey.recordField(of: record.place.ordinal).utf8)
            if let new {
                let known = step == .register ? record.finalNumbers : nil
                guard let bytes = known.map(new.bytes) ?? new.bytes(names: names) else {
                    preconditionFailure("the plan did not add all names of a record")
                }
                written[block, default: []] += [field, bytes]
            } else {
                removed[block, default: []].append(field)
            }
            added += (new == nil ? 0 : 1) - (old == nil ? 0 : 1)
        }
        for (block, words) in written.sorted(by: { $0.key < $1.key }) {
            changes += PartitionChange.split(
                .setFields, RegistryKey.records(block: block).suffix, words, by: 2)
        }
        for (block, words) in removed.sorted(by: { $0.key < $1.key }) {
            changes += PartitionChange.split(.removeFields, RegistryKey.records(block: block).suffix, words)
        }
        if step == .register { writeFree(records, ordinals, now: now) }
    }

    private mutating func writeFree(_ records: [RecordChange], _ ordinals: PlannedOrdinals, now: Int64) {
        let removed = records.filter { $0.final == nil }.map(\.place.ordinal)
        let usedNew = records.count { $0.final != nil && ordinals.isNew($0.place.ordinal) }
        guard !removed.isEmpty || !ordinals.reused.isEmpty || usedNew < ordinals.next - ordinals.first else {
            return
        }
        let used = Set(records.filter { $0.final != nil }.map(\.place.ordinal))
        let unused = (ordinals.first..<ordinals.next).filter { !used.contains($0) }
        changes += PartitionChange.split(
            .addMembers, RegistryKey.free.suffix,
            (removed + unused).flatMap { [Array("\(now)".utf8), Array("\($0)".utf8)] }, by: 2)
        changes += PartitionChange.split(
            .removeMembers, RegistryKey.free.suffix,
            ordinals.reused.intersection(used).sorted().map { Array("\($0)".utf8) })
    }
}
