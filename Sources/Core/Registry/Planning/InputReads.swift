import StoreProtocol

/// The reads that depend only on the inputs of a plan.
struct InputReads {
    private let inputs: [DeviceInput]
    private let finding: Set<EntryKey>
    private let before: [PartitionCache]
    private let keys: RegistryKeys

    /// - Parameters:
    ///   - finding: the index entries by which the inputs find devices that they do not name.
    ///   - before: the last known state of each partition.
    init(
        _ inputs: [DeviceInput], _ finding: Set<EntryKey>, _ before: [PartitionCache], _ keys: RegistryKeys
    ) {
        (self.inputs, self.finding, self.before, self.keys) = (inputs, finding, before, keys)
    }

    /// - Parameter reusableBefore: ordinals that were freed before this time, in Unix seconds, may be given to new devices.
    func all(reusableBefore: Int64) -> [PlannedRead] {
        versions + namedEntries + freeOrdinals(below: reusableBefore)
    }

    /// The script checks versions only when it applies changes. A plan without changes runs no script, so the plan
    /// reads the versions and checks them.
    private var versions: [PlannedRead] {
        guard !inputs.isEmpty else { return [] }
        return keys.allPartitions.map { partition in
            PlannedRead(
                .version,
                RegistryRead(partition: partition, key: .meta, part: .fields([Array("version".utf8)])))
        }
    }

    private var namedEntries: [PlannedRead] {
        var named = Array(finding)
        for input in inputs {
            switch input {
            case .set(let fields):
                named.append(EntryKey(.id, RegistryHash(id: fields.id), keys))
                if let user = fields.user { named.append(EntryKey(.user, RegistryHash(id: user), keys)) }
            case .change(let id, _, _), .remove(let id, _):
                named.append(EntryKey(.id, RegistryHash(id: id), keys))
            case .forget, .invalidate: break
            }
        }
        return PlannedRead.entries(named, before)
    }

    private func freeOrdinals(below reusableBefore: Int64) -> [PlannedRead] {
        guard before.contains(where: { $0.next > $0.devices }) else { return [] }
        var wanted: [Int: Int] = [:]
        for case .set(let fields) in inputs { wanted[keys.partition(ofDevice: fields.id), default: 0] += 1 }
        return wanted.sorted { $0.key < $1.key }.compactMap { partition, count in
            guard before[partition].next > before[partition].devices else { return nil }
            return PlannedRead(
                .free,
                RegistryRead(
                    partition: partition, key: .free,
                    part: .lowestMembers(below: reusableBefore, count: count)))
        }
    }
}
