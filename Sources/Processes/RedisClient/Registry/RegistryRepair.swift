package import EventLoop
package import Registry
package import StoreProtocol

/// Corrects what disagrees with the records of a registry, while the farm may change the registry.
///
/// Each correction is a call of the script `apply_changes` for one partition. The call expects the version that the partition had
/// before the repair read it, so the call changes nothing if another writer has changed the partition meanwhile. Then the repair
/// reads again. A crash leaves each partition as it was before or after a correction, and the next repair continues.
@Loop package final class RegistryRepair {
    /// How often the repair tries a correction that other writers overtake.
    static let attempts = 40

    let reader: RegistryReader
    /// A random text with which the names of this repair's calls begin.
    private let name = String(UInt64.random(in: .min ... .max), radix: 36)
    private var calls = 0

    package init(_ reader: RegistryReader) { self.reader = reader }

    /// Repairs the damage that a check has found.
    ///
    /// - Returns: what the repair has corrected, as texts; empty if it has corrected nothing.
    package func repair(_ damage: RegistryDamage) async throws(StoreError) -> [String] {
        var summary = RegistryRepairSummary()
        for partition in damage.partitions {
            try await correct(partition) { () throws(StoreError) in
                try await self.counts(of: partition, damage)
            } then: {
                summary.partitions += 1
            }
        }
        // The next check finds the other damage again, with the corrected counts.
        if damage.isBeyondCounts { return summary.texts }
        for (partition, ordinals) in damage.ordinals.sorted(by: { $0.key < $1.key }) {
            try await repair(ordinals, of: partition, &summary)
        }
        for (place, bitmaps) in damage.bitmaps.sorted(by: { $0.key < $1.key }) {
            try await repair(bitmaps, of: place, &summary)
        }
        for (place, devices) in damage.buckets.sorted(by: { $0.key < $1.key }) {
            try await repair(place, lacking: devices, &summary)
        }
        return summary.texts
    }

    // MARK: Calls

    /// Plans and applies changes until the plan is applied, is empty, or was overtaken too often.
    ///
    /// - Parameters:
    ///   - plan: reads the partition and plans its changes; nil if nothing must change.
    ///   - then: is called after the changes were applied.
    func correct(
        _ partition: Int, _ plan: @Loop () async throws(StoreError) -> PlannedChanges?, then: @Loop () -> Void
    ) async throws(StoreError) {
        for attempt in 0..<Self.attempts {
            guard let changes = try await plan() else { return }
            if try await apply(changes) { return then() }
            await wait(after: attempt)
        }
    }

    /// - Returns: false if the partition had another version.
    func apply(_ changes: PlannedChanges) async throws(StoreError) -> Bool {
        calls += 1
        let request = ApplyChanges(
            version: changes.version, name: "\(name).\(calls)", changes: changes.changes)
        do throws(StoreError) {
            _ = try await reader.store(ofPartition: changes.partition).perform(request)
            return true
        } catch {
            guard case .stale = error else { throw error }
            return false
        }
    }

    /// Gives a partition a new version, so that writers cannot apply changes that they have planned before.
    func raiseVersion(of partition: Int) async throws(StoreError) -> Bool {
        for attempt in 0..<Self.attempts {
            let version = try await reader.cache(of: partition).version
            let nothing = PlannedChanges(partition: partition, version: version, changes: [])
            if try await apply(nothing) { return true }
            await wait(after: attempt)
        }
        return false
    }

    /// Waits some milliseconds, so that the writer that overtook the repair can finish.
    func wait(after attempt: Int) async {
        try? await Loop.sleep(for: .milliseconds(Int.random(in: 1...5) * min(10, attempt + 1)))
    }
}

/// What a repair has corrected.
struct RegistryRepairSummary {
    var (partitions, ordinals, bitmaps, buckets, added, removed) = (0, 0, 0, 0, 0, 0)

    var texts: [String] {
        var texts: [String] = []
        if partitions > 0 {
            texts.append("registry: corrected the counts of \(Self.counted(partitions, "partition"))")
        }
        if ordinals > 0 { texts.append("registry: corrected \(Self.counted(ordinals, "free ordinal"))") }
        if bitmaps > 0 { texts.append("registry: corrected \(Self.counted(bitmaps, "bitmap"))") }
        if buckets > 0 {
            texts.append(
                "registry: corrected \(Self.counted(buckets, "bucket")) of indexes, which got \(added) entries and lost \(removed)"
            )
        }
        return texts
    }

    private static func counted(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
}
