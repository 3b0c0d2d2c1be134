package import EventLoop
package import Logging
import RedisProtocol
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
    private let app: AppStore
    private let log: Logger
    /// A random text with which the names of this writer's calls begin, so that no call of another writer has the same
    /// name.
    private let name: String
    private var calls = 0
    private var registry: (keys: RegistryKeys, stores: [AppStore])?
    /// The state of each partition in Redis; nil if the state is unknown and must be read.
    private var partitions: [PartitionCache]?
    /// Called with true before the writer waits for Redis, and with false when the writer continues.
    package var onWait: @Loop (_ isWaiting: Bool) async -> Void = { _ in }

    package init(app: String, connection: RedisConnection, log: Logger) {
        self.connection = connection
        self.app = AppStore(app: app, connection: connection)
        var log = log
        log[metadataKey: "app"] = "\(app)"
        self.log = log
        name = String(UInt64.random(in: .min ... .max), radix: 36)
    }

    /// The number of devices when the registry was last read or written; nil before ``takeOver()``.
    package var devices: Int? { partitions?.reduce(0) { $0 + $1.devices } }

    /// Reads the registry, and gives every partition a new version. Redis then refuses calls that an earlier owner has
    /// planned for the old versions.
    ///
    /// - Throws: ``StoreError/unexpectedReply(_:)`` if another release wrote the registry in a format that this release does not
    ///   know; other errors that retries do not fix.
    package func takeOver() async throws(StoreError) {
        partitions = nil
        let registry = try await open()
        for _ in 0..<Self.attempts {
            var caches = try await read(registry)
            let changes = caches.enumerated().map {
                PlannedChanges(partition: $0.offset, version: $0.element.version, changes: [])
            }
            guard try await apply(changes, registry) else { continue }
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
        if inputs.contains(where: \.needsMemory) { try await waitForMemory() }
        var version = 0
        for _ in 0..<Self.attempts {
            let registry = try await open()
            let caches: [PartitionCache]
            if let partitions {
                caches = partitions
            } else {
                caches = try await read(registry)
                try await isOwner()
            }
            // If a call below fails, this writer does not know which changes Redis has applied. Then the next attempt
            // must read the registry.
            partitions = nil
            do throws(StoreError) {
                let plan = try await plan(inputs, registry, caches, reusableBefore)
                guard try await carryOut(plan, registry) else { continue }
                partitions = plan.after
                return plan.results
            } catch {
                guard case .stale(let current) = error else { throw error }
                version = current
            }
        }
        throw .stale(version: version)
    }

    private func plan(
        _ inputs: [DeviceInput], _ registry: (keys: RegistryKeys, stores: [AppStore]),
        _ caches: [PartitionCache], _ reusableBefore: Int64
    ) async throws(StoreError) -> RegistryPlan {
        var plan = RegistryPlan(
            inputs, keys: registry.keys, partitions: caches, now: connection.clock.seconds,
            reusableBefore: reusableBefore)
        do {
            while case let reads = try plan.nextReads(), !reads.isEmpty {
                try plan.receive(try await replies(to: reads, registry.keys))
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

    /// - Returns: false if a partition had another version than the plan expects.
    private func carryOut(
        _ plan: RegistryPlan, _ registry: (keys: RegistryKeys, stores: [AppStore])
    ) async throws(StoreError) -> Bool {
        for step in PlanStep.allCases {
            guard try await apply(plan.changes(of: step), registry) else { return false }
        }
        return true
    }

    /// Sends the changes of one step for all partitions together, and waits until they are applied.
    ///
    /// - Returns: false if a partition had another version than the plan expects.
    private func apply(
        _ changes: [PlannedChanges], _ registry: (keys: RegistryKeys, stores: [AppStore])
    ) async throws(StoreError) -> Bool {
        let requests = changes.map { changes in
            calls += 1
            return ApplyChanges(
                version: changes.version, name: "\(name).\(calls)", changes: changes.changes)
        }
        do throws(StoreError) {
            _ = try await retrying { () throws(StoreError) in
                try await self.all(changes.indices) { index, then in
                    registry.stores[changes[index].partition].send(requests[index], then: then)
                }
            }
            return true
        } catch {
            guard case .stale = error else { throw error }
            return false
        }
    }
}

// MARK: Reading

extension RegistryWriter {
    private func open() async throws(StoreError) -> (keys: RegistryKeys, stores: [AppStore]) {
        if let registry { return registry }
        let fields = ReadRegistrySettings.self
        _ = try await retrying { () throws(StoreError) in
            try await self.app.perform(InitRegistryField(fields.partitionsField, RegistryKeys.partitions))
        }
        _ = try await retrying { () throws(StoreError) in
            try await self.app.perform(InitRegistryField(fields.formatField, Self.format))
        }
        let settings = try await retrying { () throws(StoreError) in
            try await self.app.perform(ReadRegistrySettings())
        }
        guard settings.format == Self.format, let count = settings.partitions,
            RegistryKeys.validPartitions.contains(count)
        else {
            throw .unexpectedReply(
                "the registry of \(app.keys.app) has format \(settings.format ?? 0) and "
                    + "\(settings.partitions ?? 0) partitions")
        }
        let keys = RegistryKeys(app: app.keys.app, partitions: count)
        let stores = keys.allPartitions.map {
            AppStore(keys: keys.keys(ofPartition: $0), connection: connection)
        }
        registry = (keys, stores)
        return (keys, stores)
    }

    private func read(
        _ registry: (keys: RegistryKeys, stores: [AppStore])
    ) async throws(StoreError) -> [PartitionCache] {
        let hashes = try await replies(
            to: registry.keys.allPartitions.flatMap { partition in
                [RegistryKey.meta, .names].map {
                    RegistryRead(partition: partition, key: $0, part: .hash)
                }
            }, registry.keys)
        return registry.keys.allPartitions.map { partition in
            let meta = hashes[2 * partition].texts
            let names = AttributeNames(fields: hashes[2 * partition + 1].texts)
            return PartitionCache(
                meta: Dictionary(meta, uniquingKeysWith: { first, _ in first }), names: names)
        }
    }

    private func replies(
        to reads: [RegistryRead], _ keys: RegistryKeys
    ) async throws(StoreError) -> [RegistryReply] {
        try await retrying { () throws(StoreError) in
            try await self.all(reads) { read, then in
                self.connection.send(read.command(keys)) { result in
                    switch result {
                    case .success(let value): then(Result { () throws(StoreError) in try read.reply(value) })
                    case .failure(.refused(let error)): then(.failure(StoreError(error)))
                    case .failure(let error): then(.failure(.redis(error)))
                    }
                }
            }
        }
    }

    /// Waits until Redis uses less memory than its limit. Not called if all inputs are removals, because removals need
    /// no memory.
    private func waitForMemory() async throws(StoreError) {
        try await retrying { () throws(StoreError) in
            guard let reply = try? await self.connection.call(RESPCommand("INFO", "memory")) else { return }
            let info = RedisInfo(reply.text ?? "")
            guard info.maxMemory > 0, info.countedMemory >= info.maxMemory else { return }
            throw .redis(
                .waitAndRepeat(RESPServerError(message: "OOM the registry's Redis uses all of its maxmemory"))
            )
        }
    }
}

// MARK: Calls

extension RegistryWriter {
    /// Sends a call for each element, and waits for all replies.
    ///
    /// - Returns: the replies in the order of the elements.
    /// - Throws: an error that retries do not fix, if there is one; otherwise the first error.
    private func all<Elements: RandomAccessCollection, Value: Sendable>(
        _ elements: Elements,
        _ send: @Loop (Elements.Element, @escaping @Loop (Result<Value, StoreError>) -> Void) -> Void
    ) async throws(StoreError) -> [Value] {
        guard !elements.isEmpty else { return [] }
        let results = await withCheckedContinuation { continuation in
            var results = [Result<Value, StoreError>?](repeating: nil, count: elements.count)
            var open = elements.count
            for (index, element) in elements.enumerated() {
                send(element) { result in
                    results[index] = result
                    open -= 1
                    if open == 0 { continuation.resume(returning: results.compactMap { $0 }) }
                }
            }
        }
        var failure: StoreError?
        var values: [Value] = []
        for result in results {
            switch result {
            case .success(let value): values.append(value)
            case .failure(let error):
                if failure.map(\.isTemporary) ?? true {
                    failure = failure.map { error.isTemporary ? $0 : error } ?? error
                }
            }
        }
        if let failure { throw failure }
        return values
    }

    /// Repeats a call until Redis carries the call out, for example while Redis is unreachable. Logs each outage once.
    ///
    /// - Throws: an error that retries do not fix, or, if the task is cancelled, the error of the last call.
    private func retrying<Value: Sendable>(
        _ call: @Loop () async throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await OutageRetry("the registry's Redis", log: log).perform(call, onWait: onWait)
    }
}

extension RegistryReply {
    /// The fields and values of a reply that is a hash, as texts; empty if the reply is not a hash.
    fileprivate var texts: [(String, String)] {
        guard case .hash(let fields) = self else { return [] }
        return fields.map { (String(decoding: $0, as: UTF8.self), String(decoding: $1, as: UTF8.self)) }
    }
}
