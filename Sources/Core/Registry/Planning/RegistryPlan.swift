import StoreProtocol

/// Plans the changes of a registry for some inputs.
///
/// Ask for ``nextReads()`` and give their replies to ``receive(_:)`` until there are no more reads. Then carry out
/// ``changes(of:in:)`` for all steps, in order. The plan never writes, and has no clock.
package struct RegistryPlan {
    private enum Stage: Int {
        case named, records, released, sizes, bitmaps, planned
    }

    private let inputs: [DeviceInput]
    private let keys: RegistryKeys
    private let now: Int64
    private let reusableBefore: Int64
    private let before: [PartitionCache]
    private var stage = Stage.named
    private var pending: [PlannedRead] = []
    private var devices = PlannedDevices()
    private var entries = PlannedEntries()
    private var ordinals: [PlannedOrdinals]
    private var indexes = PlannedIndexes()
    private var bitmaps: PlannedBitmaps
    /// The records that change, for each partition.
    private var records: [[RecordChange]]
    private var names: [AttributeNames]
    /// The index entries by which the inputs find devices that they do not name: the devices of forgotten users, and
    /// the former devices of registered and of invalid addresses.
    private let finding: Set<EntryKey>

    /// The result of each input, in order. Empty until the plan has read the devices.
    package private(set) var results: [DeviceResult] = []
    private var steps: [PlanStep: [PlannedChanges]] = [:]
    /// The state of each partition after the steps whose changes were computed.
    package private(set) var after: [PartitionCache]

    /// - Parameters:
    ///   - partitions: the last known state of each partition.
    ///   - now: the time in Unix seconds.
    ///   - reusableBefore: ordinals that were freed before this time, in Unix seconds, may be given to new devices.
    package init(
        _ inputs: [DeviceInput], keys: RegistryKeys, partitions: [PartitionCache], now: Int64,
        reusableBefore: Int64
    ) {
        (self.inputs, self.keys, self.now, self.reusableBefore) = (inputs, keys, now, reusableBefore)
        (before, after) = (partitions, partitions)
        ordinals = partitions.map { PlannedOrdinals(next: $0.next) }
        names = partitions.map(\.names)
        bitmaps = PlannedBitmaps(partitions: keys.count)
        records = keys.allPartitions.map { _ in [] }
        finding = Set(
            inputs.flatMap { input -> [EntryKey] in
                switch input {
                case .set(let fields):
                    fields.addresses.map { EntryKey(.token, RegistryHash($0), keys) }
                case .forget(let user): [EntryKey(.user, RegistryHash(id: user), keys)]
                case .invalidate(let address, _): [EntryKey(.token, RegistryHash(address), keys)]
                case .change, .remove: []
                }
            })
    }

    /// The reads that the plan needs next; empty when the plan is complete.
    package mutating func nextReads() throws(RegistryPlanError) -> [RegistryRead] {
        while stage != .planned {
            pending = reads(of: stage)
            guard pending.isEmpty else { break }
            try advance()
        }
        return pending.map(\.read)
    }

    /// Takes the replies to the last reads, in their order.
    package mutating func receive(_ replies: [RegistryReply]) throws(RegistryPlanError) {
        guard replies.count == pending.count else {
            guard let first = pending.first else { return }
            throw .reply(first.read)
        }
        for (read, reply) in zip(pending, replies) { try take(reply, read) }
        pending = []
        try advance()
    }

    /// The bitmaps that the plan does not change, because they are damaged. The plan must be complete.
    package var damagedBitmaps: [(partition: Int, key: RegistryKey)] { bitmaps.damaged }

    /// Computes the changes of a step in a partition; nil if the step does not change the partition. The plan must be
    /// complete. Call this method once for each step and partition, in the order of the steps.
    package mutating func changes(of step: PlanStep, in partition: Int) -> PlannedChanges? {
        write(step, partition)
    }

    /// The changes of a step in all partitions. The plan must be complete. Call this method first in the order of the steps.
    package mutating func changes(of step: PlanStep) -> [PlannedChanges] {
        if let changes = steps[step] { return changes }
        let changes = keys.allPartitions.compactMap { write(step, $0) }
        steps[step] = changes
        return changes
    }
}

// MARK: Stages

extension RegistryPlan {
    private func reads(of stage: Stage) -> [PlannedRead] {
        switch stage {
        case .named: InputReads(inputs, finding, before, keys).all(reusableBefore: reusableBefore)
        case .records: namedRecords
        case .released: PlannedRead.entries(releasedEntries, before)
        case .sizes: indexes.dividedReads + bitmaps.lengthReads
        case .bitmaps: bitmaps.contentReads
        case .planned: []
        }
    }

    private mutating func advance() throws(RegistryPlanError) {
        switch stage {
        case .named: break
        case .records:
            applyInputs()
            for change in devices.changes { records[change.place.partition].append(change) }
        case .released:
            entries.plan(devices, kept: finding, keys)
            indexes = PlannedIndexes(entries, before, keys)
            planBits()
        case .sizes, .bitmaps: break
        case .planned: return
        }
        stage = Stage(rawValue: stage.rawValue + 1) ?? .planned
    }

    private mutating func take(_ reply: RegistryReply, _ read: PlannedRead) throws(RegistryPlanError) {
        switch (read.purpose, reply) {
        case (.version, .fields(let values)):
            let version = values.first.flatMap { $0 }.flatMap { Int(foreign: $0) } ?? 0
            let partition = read.read.partition
            guard version == before[partition].version else {
                throw .stale(partition: partition, version: version)
            }
        case (.entries(let keys), .fields(let values)) where keys.count == values.count:
            for (key, value) in zip(keys, values) {
                entries.add(value, as: key, partitions: self.keys.count)
            }
        case (.records(let places), .fields(let values)) where places.count == values.count:
            for (place, value) in zip(places, values) {
                devices.add(value, at: place, names: before[place.partition].names)
            }
        case (.free, .members(let members)): ordinals[read.read.partition].setReusable(members)
        case (.divided(let index), .hash(let content)): indexes.addDivided(content, of: index)
        case (.length(let key), .length(let length)):
            bitmaps.setLength(length, of: key, in: read.read.partition)
        case (.content(let key), .string(let bytes)):
            bitmaps.setContent(bytes, of: key, in: read.read.partition)
        default: throw .reply(read.read)
        }
    }
}

// MARK: Reads

extension RegistryPlan {
    private var namedRecords: [PlannedRead] {
        var places: Set<DevicePlace> = []
        for (key, entry) in entries.all where !entry.read.isEmpty {
            if key.index == .id || finding.contains(key) { places.formUnion(entry.read.places) }
        }
        return PlannedRead.records(places)
    }

    /// The entries that a changed device has before the inputs and not after them, except entries that are already
    /// read.
    private var releasedEntries: [EntryKey] {
        var released: [EntryKey] = []
        for change in records.joined() {
            guard let old = change.read else { continue }
            let new = change.final.map { EntryKey.entries(of: $0, keys) } ?? []
            for key in EntryKey.entries(of: old, keys) where entries[key] == nil && !new.contains(key) {
                released.append(key)
            }
        }
        return released
    }
}

// MARK: Changes

extension RegistryPlan {
    private mutating func applyInputs() {
        var application = InputApplication(
            devices, entries, names: names, seen: before.map(\.seen), ordinals: ordinals, keys: keys, now: now
        )
        application.reserve(inputs.count)
        results = inputs.map { application.apply($0) }
        (devices, names, ordinals) = (application.devices, application.names, application.ordinals)
    }

    private mutating func planBits() {
        for change in records.joined() {
            let place = change.place
            let isNew = ordinals[place.partition].isNew(place.ordinal)
            let read = numbers(change.read, place)
            let left = change.left == change.read ? read : numbers(change.left, place)
            bitmaps.change(place, isNew: isNew, from: read, to: left, in: .leave)
            let final = change.finalNumbers ?? numbers(change.final, place)
            bitmaps.change(place, isNew: isNew, from: left, to: final, in: .register)
        }
    }

    private func numbers(_ record: DeviceRecord?, _ place: DevicePlace) -> [Int] {
        guard let record else { return [] }
        return record.attributes(before[place.partition].seen).compactMap {
            names[place.partition].number(of: $0)
        }
    }

    private mutating func write(_ step: PlanStep, _ partition: Int) -> PlannedChanges? {
        let old = after[partition]
        var new = old
        var changes: [PartitionChange] = []
        if step == .register {
            changes += newNames(partition)
            new.names = names[partition]
            new.next = ordinals[partition].next
        }
        let records = RecordChanges(
            self.records[partition], step, names[partition], ordinals[partition], now: now)
        changes += records.changes
        new.devices = max(0, new.devices + records.added)
        changes += indexes.write(step, partition, &new)
        changes += bitmaps.write(step, partition)
        if let meta = new.metaChange(since: old) { changes.append(meta) }
        guard !changes.isEmpty else { return nil }
        new.version += 1
        after[partition] = new
        return PlannedChanges(partition: partition, version: old.version, changes: changes)
    }

    private func newNames(_ partition: Int) -> [PartitionChange] {
        let old = before[partition].names
        guard names[partition].count > old.count else { return [] }
        let words = names[partition].all.filter { old.number(of: $0.key) == nil }
            .sorted { $0.value < $1.value }
            .flatMap { [Array($0.key.text.utf8), Array("\($0.value)".utf8)] }
        return PartitionChange.split(.setFields, RegistryKey.names.suffix, words, by: 2)
    }
}
