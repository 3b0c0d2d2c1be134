/// Quarantines a shard whose pushes were in flight in several crashes of a worker, so that the worker can serve its
/// other shards.
///
/// After five crashes within a minute, a shard is quarantined for 1 s. Each further crash quarantines the shard again,
/// for twice the time, up to a minute. If the shard has no crash for a minute after a quarantine, the count starts
/// again.
package struct ShardQuarantine: Sendable {
    package struct Shard: Hashable, Sendable {
        package let app: String
        package let number: Int

        package init(app: String, number: Int) { (self.app, self.number) = (app, number) }
    }

    private struct Record {
        var crashes: [Instant] = []
        var total = 0
        var times = 0
        var end: Instant?
    }

    package var allowed = 5
    package var window: Duration = .seconds(60)
    package var first: Duration = .seconds(1)
    package var longest: Duration = .seconds(60)
    private var records: [Shard: Record] = [:]

    package init() {}

    /// Notes that a worker crashed with pushes of these shards in flight.
    ///
    /// - Returns: the shards that are quarantined because of this crash. For each shard: how long it is quarantined,
    ///   and how many crashes it had.
    package mutating func crashed(
        _ shards: some Sequence<Shard>, at now: Instant
    ) -> [(shard: Shard, duration: Duration, crashes: Int)] {
        var quarantined: [(shard: Shard, duration: Duration, crashes: Int)] = []
        for shard in shards {
            var record = records[shard] ?? Record()
            if let end = record.end, end.duration(to: now) > window { record = Record() }
            record.crashes.removeAll { $0.duration(to: now) > window }
            record.crashes.append(now)
            record.total += 1
            // After the first quarantine, every further crash causes another quarantine.
            if record.end != nil || record.crashes.count >= allowed {
                let duration = min(longest, first * (1 << min(record.times, 20)))
                record.times += 1
                record.end = now.advanced(by: duration)
                quarantined.append((shard, duration, record.total))
            }
            records[shard] = record
        }
        return quarantined
    }

    package func holds(_ shard: Shard, at now: Instant) -> Bool {
        guard let end = records[shard]?.end else { return false }
        return now < end
    }

    /// Returns the quarantined shards and the remaining time of each.
    package func held(at now: Instant) -> [(shard: Shard, remaining: Duration)] {
        records.compactMap { shard, record in
            guard let end = record.end, now < end else { return nil }
            return (shard, now.duration(to: end))
        }.sorted { ($0.shard.app, $0.shard.number) < ($1.shard.app, $1.shard.number) }
    }

    /// Whether no shard is quarantined and no crash is recorded.
    package var isEmpty: Bool { records.isEmpty }

    /// Ends every quarantine, and forgets the crashes.
    package mutating func release() { records = [:] }
}
