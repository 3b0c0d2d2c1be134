import EventLoop
import FarmConfiguration
import FarmPolicy
import PushModel
import StoreProtocol

/// The suppression lists of one app, as a command reads and writes them.
@Loop struct SuppressionStore {
    let client: FarmClient
    let app: String
    let shards: Int
    /// The app's configuration, or nil when this host does not configure the app.
    let settings: AppConfiguration?
    let scopes: [UInt32: SuppressionScope]
    /// The name of this command, which is unique among all writers.
    let writer = JobDraft.freshID()
    /// The number of this command's last step.
    private(set) var step = 0
    /// The content of the lists that this command has written to.
    private var tables: [Int: SuppressionTable] = [:]

    /// The number of records that one call reads or writes.
    static let portion = 1000

    static func open(_ client: FarmClient, app: String) async throws(CommandFailure) -> SuppressionStore {
        try await client.mustHave(app: app)
        return SuppressionStore(
            client: client, app: app, shards: try await client.shards(),
            settings: client.configuration.app(named: app), scopes: try await client.call(ReadScopes(), app))
    }

    func shard(of token: [UInt8]) -> Int { ShardHash.shard(of: token, shards: shards) }

    /// The suppressed tokens of a shard, in the order of their records.
    ///
    /// - Parameter isWanted: selects lines. Lines that are not selected are dropped as soon as they are read.
    func lines(
        of shard: Int, where isWanted: (SuppressionLine) -> Bool
    ) async throws(CommandFailure) -> [SuppressionLine] {
        let oldest = try await client.clock().components.seconds - life
        var lines: [Key: Known] = [:]
        var number = 0
        try await read(shard) { record, recorded in
            number += 1
            let key = Key(token: record.token, scope: record.scope)
            guard let reason = record.reason else {
                lines[key] = nil
                return
            }
            if let old = lines[key], !reason.mayReplace(old.line.reason), old.recorded > recorded - life {
                lines[key] = Known(number: number, recorded: recorded, line: old.line)
                return
            }
            let line = SuppressionLine(
                token: Array(record.token), reason: reason, time: Int64(record.time),
                scope: scopes[record.scope] ?? SuppressionScope(environment: "?", topic: ""))
            if isWanted(line) { lines[key] = Known(number: number, recorded: recorded, line: line) }
        }
        return lines.values.filter { $0.recorded > oldest }.sorted { $0.number < $1.number }.map(\.line)
    }

    private struct Key: Hashable {
        let token: ArraySlice<UInt8>
        let scope: UInt32
    }

    private struct Known {
        let number: Int
        /// The time of the record in Unix seconds.
        let recorded: Int64
        let line: SuppressionLine
    }

    /// The seconds for which a record is valid.
    private var life: Int64 { Int64(settings?.suppression.days ?? 366) * 86_400 }

    /// Reads a shard's list from the start.
    private func read(
        _ shard: Int, _ body: (_ record: SuppressionRecord, _ recorded: Int64) -> Void
    ) async throws(CommandFailure) {
        var after = EntryID.first
        while true {
            let page = try await client.call(
                ReadSuppressed(shard: shard, after: after, count: Self.portion), app)
            for entry in page {
                if let record = entry.record { body(record, entry.id.milliseconds / 1000) }
            }
            guard page.count == Self.portion, let last = page.last else { return }
            after = last.id
        }
    }

    /// Suppresses tokens, in portions. Skips tokens whose new record would change nothing in the list. With
    /// `isRemoval`, removes the tokens that are suppressed.
    mutating func write(_ lines: [SuppressionLine], isRemoval: Bool = false) async throws(CommandFailure) {
        let limit = settings?.suppressionLimit(shards: shards) ?? Retention().suppressed
        let now = try await client.clock().components.seconds
        for start in stride(from: 0, to: lines.count, by: Self.portion) {
            let some = lines[start..<min(start + Self.portion, lines.count)]
            var entries: [Suppress.Entry] = []
            for line in some {
                let record = SuppressionRecord(
                    reason: isRemoval ? nil : line.reason, scope: line.scope.number, time: line.time,
                    token: line.token[...])
                let shard = shard(of: line.token)
                if try await isNews(record, in: shard, at: now) {
                    entries.append(Suppress.Entry(shard: shard, record: record))
                }
            }
            guard !entries.isEmpty else { continue }
            step += 1
            _ = try await client.call(
                Suppress(entries, scopes: Set(some.map(\.scope)), limit: limit, writer: writer, step: step),
                app)
        }
    }

    /// Whether the record differs from the shard's list. A record that changes nothing is not added, because
    /// a list has limited room.
    private mutating func isNews(
        _ record: SuppressionRecord, in shard: Int, at now: Int64
    ) async throws(CommandFailure) -> Bool {
        // Without the app's configuration, the lifetime of its records is unknown, so every record is added.
        guard settings != nil, record.reason != nil else { return true }
        if tables[shard] == nil {
            var table = SuppressionTable(life: life)
            try await read(shard) { table.apply($0, recorded: $1) }
            tables[shard] = table
        }
        if tables[shard]?.covers(record, at: now) == true { return false }
        tables[shard]?.apply(record, recorded: now)
        return true
    }
}
