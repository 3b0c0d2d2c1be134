import Segments
import StoreProtocol

/// The bitmaps of all partitions that a plan changes.
struct PlannedBitmaps {
    /// The bitmaps of each partition.
    private var bitmaps: [[BitsKey: PlannedBits]]

    init(partitions: Int) { bitmaps = [[BitsKey: PlannedBits]](repeating: [:], count: partitions) }

    /// Plans the change of a device's attributes in a step.
    ///
    /// - Parameters:
    ///   - isNew: whether the device's ordinal is higher than all ordinals that were ever used before the plan.
    ///   - old: the numbers of the attributes' names before the step, each once.
    ///   - new: the numbers of the attributes' names after the step, each once.
    mutating func change(
        _ place: DevicePlace, isNew: Bool, from old: [Int], to new: [Int], in step: PlanStep
    ) {
        let (chunk, bit) = place.ordinal.quotientAndRemainder(dividingBy: OrdinalChunk.size)
        func add(_ name: Int, isSet: Bool) {
            let change = PlannedBits.Change(
                ordinal: UInt16(truncatingIfNeeded: bit), isSet: isSet, isNew: isNew)
            let key = BitsKey(name: name, chunk: chunk)
            bitmaps[place.partition][key, default: PlannedBits()].add(change, in: step)
        }
        for name in old where !new.contains(name) { add(name, isSet: false) }
        for name in new where !old.contains(name) { add(name, isSet: true) }
    }

    /// Reads of the lengths of all bitmaps.
    var lengthReads: [PlannedRead] {
        bitmaps.enumerated().flatMap { partition, all in
            all.keys.sorted().map { key in
                PlannedRead(.length(key), RegistryRead(partition: partition, key: key.key, part: .length))
            }
        }
    }

    /// Reads of the bitmaps whose content the plan needs. The lengths must be known.
    var contentReads: [PlannedRead] {
        bitmaps.enumerated().flatMap { partition, all in
            all.filter(\.value.needsContent).keys.sorted().map { key in
                PlannedRead(.content(key), RegistryRead(partition: partition, key: key.key, part: .string))
            }
        }
    }

    mutating func setLength(_ length: Int, of key: BitsKey, in partition: Int) {
        bitmaps[partition][key]?.setLength(length)
    }

    mutating func setContent(_ bytes: [UInt8], of key: BitsKey, in partition: Int) {
        bitmaps[partition][key]?.setContent(bytes)
    }

    /// The bitmaps that do not change, because they are damaged in Redis. The lengths and contents must be known.
    var damaged: [(partition: Int, key: RegistryKey)] {
        bitmaps.enumerated().flatMap { partition, all in
            all.filter(\.value.isSkipped).keys.sorted().map { (partition, $0.key) }
        }
    }

    /// The commands that carry out the changes of a step in a partition. Call this method once for each step, in the
    /// order of the steps.
    mutating func write(_ step: PlanStep, _ partition: Int) -> [PartitionChange] {
        var changes: [PartitionChange] = []
        for key in bitmaps[partition].keys.sorted() {
            changes += bitmaps[partition][key]?.write(step, key.key) ?? []
        }
        return changes
    }
}
