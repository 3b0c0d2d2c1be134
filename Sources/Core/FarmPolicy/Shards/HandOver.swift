/// Which of an app's shards are being withdrawn from this host's workers, in order to give them to another host.
///
/// A few at a time, so that only they stand still. One that its worker does not release in time is kept, and left
/// alone for a while.
package struct HandOver: Sendable {
    /// Shards of one app that are withdrawn at the same time.
    package static let most = 4
    /// Time for the responses to pushes in flight, and their reports.
    package static let timeout = Duration.seconds(25)
    /// Until a shard that was kept is tried again.
    package static let retryPause = Duration.seconds(30)

    private var since: [Int: Instant] = [:]
    private var kept: [Int: Instant] = [:]

    package init() {}

    package var leaving: Set<Int> { Set(since.keys) }

    package func isLeaving(_ shard: Int) -> Bool { since[shard] != nil }

    /// - Parameters:
    ///   - shards: that others should own.
    ///   - isAll: at the end of a host all go at once.
    /// - Returns: those that are to be withdrawn now.
    package mutating func begin(_ shards: [Int], isAll: Bool = false, at now: Instant) -> [Int] {
        let room = isAll ? shards.count : max(0, Self.most - since.count)
        let chosen = shards.filter { shard in
            guard since[shard] == nil else { return false }
            return isAll || kept[shard].map { $0.duration(to: now) >= Self.retryPause } ?? true
        }.prefix(room)
        for shard in chosen {
            since[shard] = now
            kept[shard] = nil
        }
        return Array(chosen)
    }

    /// Shards that took too long: they stay after all.
    package mutating func overdue(at now: Instant) -> [Int] {
        let late = since.filter { $0.value.duration(to: now) >= Self.timeout }.keys.sorted()
        for shard in late {
            since[shard] = nil
            kept[shard] = now
        }
        return late
    }

    /// Shards that are not to go any more: their host has changed its mind.
    package mutating func cancel(_ isWanted: (Int) -> Bool) -> [Int] {
        let back = since.keys.filter(isWanted).sorted()
        for shard in back { since[shard] = nil }
        return back
    }

    /// The shard is no longer ours.
    package mutating func ended(_ shard: Int) {
        since[shard] = nil
        kept[shard] = nil
    }
}
