package import EventLoop
package import Logging
package import Registry
package import StoreProtocol

/// Applies registrations to an app's registry, which may be in another Redis than the farm's.
///
/// Only the owner of the app's intake writes the registry. After the owner has acquired the intake's lease, call
/// ``takeOver()`` once. Then take inputs from Redis with a call that checks the lease, and pass them to
/// ``apply(_:reusableBefore:isOwner:)``. Inputs must stay in Redis until they are applied, so that the next owner can
/// apply them if this process ends early.
@Loop package final class RegistryWriter {
    /// The format of the registry that this release writes.
    package static let format = 1
    /// How often a call plans its changes before it fails. It plans them again if a partition in Redis no longer has
    /// the version for which the changes were planned.
    private static let attempts = 8

    private let connection: RedisConnection
    private let app: AppRedis
    private let log: Logger
    private let calls: RegistryCalls
    private var damaged = RefusedValueLog()
    /// Nil until the registry was opened.
    private var opened: RegistryPartitions?
    /// The state of each partition in Redis; nil if the state is unknown and must be read.
    private var partitions: [PartitionCache]?
    /// The partitions whose days of `seen` this writer cannot fold, because a bitmap is damaged.
    private var unfoldable: Set<Int> = []
    /// Called with true before the writer waits for Redis, and with false when the writer continues.
    package var onWait: @Loop (_ isWaiting: Bool) async -> Void {
        get { calls.onWait }
        set { calls.onWait = newValue }
    }

    package init(app: String, connection: RedisConnection, log: Logger) {
        self.connection = connection
        self.app = AppRedis(app: app, connection: connection)
        var log = log
        log[metadataKey: "app"] = "\(app)"
        self.log = log
        calls = RegistryCalls(connection, log: log)
    }

    /// The number of devices when the registry was last read or written; nil before ``takeOver()``.
    package var devices: Int? { partitions?.reduce(0) { $0 + $1.devices } }

    /// Reads the registry, and gives every partition a new version. Redis then refuses calls that an earlier owner has
    /// planned for the old versions.
    ///
    /// - Throws: ``StoreError/unexpectedReply(_:)`` if another release wrote the registry in a format that this release does not
    ///   know; other errors that retries do not fix.
    package func takeOver() async throws(StoreError) {
        (partitions, unfoldable) = (nil, [])
        let registry = try await open()
        for _ in 0..<Self.attempts {
            var caches = try await registry.read()
            let changes = caches.enumerated().map {
                PlannedChanges(partition: $0.offset, version: $0.element.version, changes: [])
            }
            guard try await registry.apply(changes) else { continue }
            for partition in caches.indices { caches[partition].countVersion() }
            partitions = caches
            return
        }
        throw .stale(version: 0)
    }

    /// Applies inputs in their order.
    ///
    /// - Parameters:
    ///   - reusableBefore: new devices may get the ordinals of devices that were removed before this time, in Unix seconds.
    ///   - isOwner: asks the farm's Redis whether this process still owns the intake, and throws if not. `apply` calls
    ///     this function each time after it has read the registry again.
    /// - Returns: the result of each input.
    /// - Throws: an error that retries do not fix. Some of the inputs may be applied by then. You may call `apply`
    ///   again with all inputs.
    package func apply(
        _ inputs: [DeviceInput], reusableBefore: Int64 = .max,
        isOwner: @Loop () async throws(StoreError) -> Void
    ) async throws(StoreError) -> [DeviceResult] {
        var results: [DeviceResult] = []
        for portion in DeviceInput.portions(of: inputs) {
            results += try await applyPortion(Array(inputs[portion]), reusableBefore, isOwner)
        }
        return results
    }

    private func applyPortion(
        _ inputs: [DeviceInput], _ reusableBefore: Int64, _ isOwner: @Loop () async throws(StoreError) -> Void
    ) async throws(StoreError) -> [DeviceResult] {
        if inputs.contains(where: \.needsMemory) { try await calls.waitForMemory() }
        var version = 0
        for _ in 0..<Self.attempts {
            let registry = try await open()
            var caches: [PartitionCache]
            if let partitions {
                caches = partitions
            } else {
                caches = try await registry.read()
                try await isOwner()
            }
            // If a call below fails, this writer does not know which changes Redis has applied. Then the next attempt
            // must read the registry.
            partitions = nil
            do throws(StoreError) {
                guard try await foldSeen(&caches, registry) else { continue }
                let plan = try await plan(inputs, registry.keys, caches, reusableBefore)
                report(plan.damagedBitmaps)
                let results = plan.results
                guard let after = try await registry.carryOut(plan) else { continue }
                partitions = after
                return results
            } catch {
                guard case .stale(let current) = error else { throw error }
                version = current
            }
        }
        throw .stale(version: version)
    }

    /// Carries out one act of ``SeenFold`` if a partition needs it. So each call of the writer folds at most one week.
    ///
    /// - Returns: false if the partition had another version than expected.
    private func foldSeen(
        _ caches: inout [PartitionCache], _ registry: RegistryPartitions
    ) async throws(StoreError) -> Bool {
        let now = connection.clock.seconds
        for partition in caches.indices where !unfoldable.contains(partition) {
            guard let fold = SeenFold(partition: partition, caches[partition], now: now) else { continue }
            guard let (changes, after) = try await changes(of: fold, registry.keys) else { return true }
            guard try await registry.apply([changes]) else { return false }
            caches[partition] = after
            return true
        }
        return true
    }

    /// - Returns: nil if the act cannot be carried out. The writer does not try it again before the next ``takeOver()``.
    private func changes(
        of fold: SeenFold, _ keys: RegistryKeys
    ) async throws(StoreError) -> (PlannedChanges, PartitionCache)? {
        let replies: [RegistryReply]
        do throws(StoreError) { replies = try await calls.replies(to: fold.reads, keys) } catch {
            guard !error.isTemporary else { throw error }
            reportUnfoldable(fold.partition, "\(error)")
            return nil
        }
        do throws(SeenFold.Failure) { return try fold.changes(replies) } catch {
            reportUnfoldable(fold.partition, "\(error)")
            return nil
        }
    }

    private func reportUnfoldable(_ partition: Int, _ reason: String) {
        unfoldable.insert(partition)
        log.error(
            "the days of \"seen\" cannot be folded into weeks: run pushfarm debug fsck",
            metadata: ["partition": "\(partition)", "reason": "\(reason)"])
    }

    /// Logs damaged bitmaps, each at most once in ten minutes.
    private func report(_ bitmaps: [(partition: Int, key: RegistryKey)]) {
        for (partition, key) in bitmaps {
            let name = "partition \(partition), \(key.suffix)"
            guard damaged.shouldReport(at: name, now: .now) else { continue }
            log.error(
                "a bitmap of the registry is damaged and no longer changes: run pushfarm debug fsck",
                metadata: ["bitmap": "\(name)"])
        }
    }

    private func plan(
        _ inputs: [DeviceInput], _ keys: RegistryKeys, _ caches: [PartitionCache], _ reusableBefore: Int64
    ) async throws(StoreError) -> RegistryPlan {
        var plan = RegistryPlan(
            inputs, keys: keys, partitions: caches, now: connection.clock.seconds,
            reusableBefore: reusableBefore)
        do {
            while case let reads = try plan.nextReads(), !reads.isEmpty {
                try plan.receive(try await calls.replies(to: reads, keys))
            }
            return plan
        } catch let error as StoreError {
            throw error
        } catch RegistryPlanError.stale(_, let version) {
            throw .stale(version: version)
        } catch {
            throw .unexpectedReply("the registry of \(app.keys.app) is damaged: \(error)")
        }
    }

    private func open() async throws(StoreError) -> RegistryPartitions {
        if let opened { return opened }
        let registry = try await RegistryPartitions.open(app: app, format: Self.format, connection, calls)
        opened = registry
        return registry
    }
}
