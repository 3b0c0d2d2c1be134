import RandomTesting
import StoreProtocol

@testable import Registry

/// Repairs buckets of indexes as `RegistryRepair` does, one read or call at a time, so that a simulation can put other writers'
/// calls in between.
struct SimulatedRepair {
    private enum Phase {
        case idle
        /// The bucket was read, and its records come next.
        case records(RegistryDamage.BucketPlace, BucketRepair, Set<DevicePlace>)
        /// The correction is planned.
        case apply(RegistryDamage.BucketPlace, BucketRepair.Correction, Set<DevicePlace>)
        /// The places were removed, and these partitions need new versions.
        case raise(RegistryDamage.BucketPlace, [Int], Set<DevicePlace>)
        case read(RegistryDamage.BucketPlace, Set<DevicePlace>)
    }

    private var phase = Phase.idle
    private(set) var corrections = 0

    var isIdle: Bool { if case .idle = phase { true } else { false } }

    /// Begins with a bucket, which may or may not be damaged.
    mutating func begin(_ place: RegistryDamage.BucketPlace, lacking: Set<DevicePlace> = []) {
        phase = .read(place, lacking)
    }

    /// Carries out the next read or call.
    mutating func step(_ registry: inout FakeRegistry, _ names: inout Int) {
        names += 1
        switch phase {
        case .idle: break
        case .read(let place, let candidates):
            let repair = BucketRepair(
                place, registry.cache(of: place.partition),
                fields: registry.bucket(place.partition, place.index, place.bucket), keys: registry.keys)
            phase = .records(place, repair, candidates)
        case .records(let place, var repair, let candidates):
            for device in repair.places.union(candidates).sorted() {
                guard let bytes = registry.record(at: device) else { continue }
                repair.add(
                    try? DeviceRecord(bytes: bytes, names: registry.cache(of: device.partition).names),
                    at: device)
            }
            phase = repair.correction.map { .apply(place, $0, candidates) } ?? .idle
        case .apply(let place, let correction, let candidates):
            guard registry.apply(correction.changes, name: "r\(names)") == .applied else {
                phase = .read(place, candidates)
                return
            }
            corrections += 1
            let others = correction.partitions(afterRemovalOf: candidates).filter {
                $0 != place.partition && $0 < registry.keys.count
            }
            phase = .raise(place, others, candidates.union(correction.removed))
        case .raise(let place, let partitions, let candidates):
            guard let partition = partitions.first else {
                phase = .read(place, candidates)
                return
            }
            let nothing = PlannedChanges(
                partition: partition, version: registry.version(of: partition), changes: [])
            _ = registry.apply(nothing, name: "r\(names)")
            phase = .raise(place, Array(partitions.dropFirst()), candidates)
        }
    }
}

extension FakeRegistry {
    func record(at place: DevicePlace) -> [UInt8]? {
        guard place.partition < keys.count else { return nil }
        return records(place.partition, block: place.ordinal / RegistryKey.blockSize)[
            place.ordinal % RegistryKey.blockSize]
    }
}
