import EventLoop
import FarmConfiguration
import FarmStore
import PushModel

/// The suppression lists of one app, as a command sees them.
@Loop struct SuppressionBook {
    let client: FarmClient
    let app: String
    let shards: Int
    /// The app's, if it is in this host's configuration.
    let settings: AppConfiguration?
    let scopes: [UInt32: SuppressionScope]
    /// This command's name among all that write.
    let writer = JobDraft.freshID()
    /// Its last step.
    private(set) var step = 0

    /// Records that go into one call.
    static let portion = 1000

    static func open(_ client: FarmClient, app: String) async throws(CommandFailure) -> SuppressionBook {
        try await client.mustHave(app: app)
        let shards = try await client.ask { registry throws(RedisError) in try await registry.fixedShards() }
        return SuppressionBook(
            client: client, app: app, shards: shards ?? client.configuration.shards,
            settings: client.configuration.app(named: app),
            scopes: try await client.call(ReadScopes(), app))
    }

    func shard(of token: [UInt8]) -> Int { ShardHash.shard(of: token, shards: shards) }

    /// What is suppressed in a shard now, in the order in which that was recorded.
    ///
    /// - Parameter isWanted: what is not is passed over early.
    func lines(
        of shard: Int, where isWanted: (SuppressionLine) -> Bool
    ) async throws(CommandFailure) -> [SuppressionLine] {
        let oldest =
            try await client.clock().components.seconds - Int64(settings?.suppression.days ?? 366) * 86_400
        var lines: [Key: (number: Int, line: SuppressionLine)] = [:]
        var after = SuppressionPlace.start
        var number = 0
        while true {
            let page = try await client.call(
                ReadSuppressed(shard: shard, after: after, count: Self.portion), app)
            for entry in page {
                guard let record = entry.record else { continue }
                number += 1
                let key = Key(token: record.token, scope: record.scope)
                lines[key] = nil
                guard let reason = record.reason, entry.place.milliseconds / 1000 > oldest else { continue }
                let line = SuppressionLine(
                    token: Array(record.token), reason: reason, time: Int64(record.time),
                    scope: scopes[record.scope] ?? SuppressionScope(environment: "?", topic: ""))
                if isWanted(line) { lines[key] = (number, line) }
            }
            guard page.count == Self.portion, let last = page.last else { break }
            after = last.place
        }
        return lines.values.sorted { $0.number < $1.number }.map(\.line)
    }

    private struct Key: Hashable {
        let token: ArraySlice<UInt8>
        let scope: UInt32
    }

    /// Suppresses, or with `isRemoval` takes back what is said to be suppressed; in portions.
    mutating func write(_ lines: [SuppressionLine], isRemoval: Bool = false) async throws(CommandFailure) {
        let limit = settings?.suppressionLimit(shards: shards) ?? Retention().suppressed
        for start in stride(from: 0, to: lines.count, by: Self.portion) {
            let some = lines[start..<min(start + Self.portion, lines.count)]
            let entries = some.map { line in
                Suppress.Entry(
                    shard: shard(of: line.token),
                    record: SuppressionRecord(
                        reason: isRemoval ? nil : line.reason, scope: line.scope.number, time: line.time,
                        token: line.token[...]))
            }
            step += 1
            _ = try await client.call(
                Suppress(entries, scopes: Set(some.map(\.scope)), limit: limit, writer: writer, step: step),
                app)
        }
    }
}
