import EventLoop
import RedisProtocol
import Registry
import StoreProtocol

/// The partitions of an app's registry in Redis: reads their states, and applies planned changes.
@Loop final class RegistryPartitions {
    let keys: RegistryKeys
    private let stores: [AppRedis]
    private let calls: RegistryCalls
    /// A random text with which the names of this writer's calls begin, so that no call of another writer has the same
    /// name.
    private let name = String(UInt64.random(in: .min ... .max), radix: 36)
    private var namedCalls = 0

    /// Finds the partitions of an app. If the app has no registry, this function begins one.
    ///
    /// - Throws: ``StoreError/unexpectedReply(_:)`` if the registry has another format than `format`.
    static func open(
        app: AppRedis, format: Int, _ connection: RedisConnection, _ calls: RegistryCalls
    ) async throws(StoreError) -> RegistryPartitions {
        let fields = ReadRegistrySettings.self
        _ = try await calls.retrying { () throws(StoreError) in
            try await app.perform(InitRegistryField(fields.partitionsField, RegistryKeys.partitions))
        }
        _ = try await calls.retrying { () throws(StoreError) in
            try await app.perform(InitRegistryField(fields.formatField, format))
        }
        let settings = try await calls.retrying { () throws(StoreError) in
            try await app.perform(ReadRegistrySettings())
        }
        guard settings.format == format, let count = settings.partitions,
            RegistryKeys.validPartitions.contains(count)
        else {
            throw .unexpectedReply(
                "the registry of \(app.keys.app) has format \(settings.format ?? 0) and "
                    + "\(settings.partitions ?? 0) partitions")
        }
        return RegistryPartitions(RegistryKeys(app: app.keys.app, partitions: count), connection, calls)
    }

    private init(_ keys: RegistryKeys, _ connection: RedisConnection, _ calls: RegistryCalls) {
        (self.keys, self.calls) = (keys, calls)
        stores = keys.allPartitions.map {
            AppRedis(keys: keys.keys(ofPartition: $0), connection: connection)
        }
    }

    /// Reads the state of each partition.
    func read() async throws(StoreError) -> [PartitionCache] {
        let hashes = try await calls.replies(
            to: keys.allPartitions.flatMap { partition in
                [RegistryKey.meta, .names].map {
                    RegistryRead(partition: partition, key: $0, part: .hash)
                }
            }, keys)
        return keys.allPartitions.map { partition in
            let meta = hashes[2 * partition].texts
            let names = AttributeNames(fields: hashes[2 * partition + 1].texts)
            return PartitionCache(
                meta: Dictionary(meta, uniquingKeysWith: { first, _ in first }), names: names)
        }
    }

    /// Applies changes of different partitions together.
    ///
    /// - Returns: false if a partition had another version than the changes expect.
    func apply(_ changes: [PlannedChanges]) async throws(StoreError) -> Bool {
        try await apply(changes.indices) { changes[$0] }
    }

    /// Carries out a complete plan. Each call is sent as soon as it is planned, so that Redis executes the call while this
    /// process plans the changes of the next partition.
    ///
    /// - Returns: the state of each partition; nil if a partition had another version than the plan expects.
    func carryOut(_ plan: consuming RegistryPlan) async throws(StoreError) -> [PartitionCache]? {
        var plan = plan
        for step in PlanStep.allCases {
            let isApplied = try await apply(keys.allPartitions) { partition in
                plan.changes(of: step, in: partition)
            }
            guard isApplied else { return nil }
        }
        return plan.after
    }

    /// Sends the changes of one step for all partitions together, and waits until they are applied.
    ///
    /// - Parameters:
    ///   - numbers: the numbers of the changes, from 0.
    ///   - changes: the changes with a number; nil if there are none. Called once for each number, in ascending order.
    /// - Returns: false if a partition had another version than the plan expects.
    private func apply(
        _ numbers: Range<Int>, _ changes: @Loop (Int) -> PlannedChanges?
    ) async throws(StoreError) -> Bool {
        // A repeated call has the name of the first call, so that Redis does not execute it twice.
        var requests: [(partition: Int, request: ApplyChanges)?] = []
        do throws(StoreError) {
            _ = try await calls.retrying { () throws(StoreError) in
                try await self.calls.all(numbers) { number, then in
                    if number == requests.count {
                        requests.append(changes(number).map { ($0.partition, self.request($0)) })
                    }
                    guard let (partition, request) = requests[number] else { return then(.success(0)) }
                    self.stores[partition].send(request, then: then)
                }
            }
            return true
        } catch {
            guard case .stale = error else { throw error }
            return false
        }
    }

    /// The call that applies the changes. Each call has another name.
    private func request(_ changes: PlannedChanges) -> ApplyChanges {
        namedCalls += 1
        return ApplyChanges(
            version: changes.version, name: "\(name).\(namedCalls)", changes: changes.changes)
    }
}

extension RegistryReply {
    /// The fields and values of a reply that is a hash, as texts; empty if the reply is not a hash.
    fileprivate var texts: [(String, String)] {
        guard case .hash(let fields) = self else { return [] }
        return fields.map { (String(decoding: $0, as: UTF8.self), String(decoding: $1, as: UTF8.self)) }
    }
}
