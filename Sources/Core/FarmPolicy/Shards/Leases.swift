/// Until when pushes may be started under the leases of a host's coordinator.
///
/// Redis counts a lease from when it takes the call; we count it from before the call, and stop a margin before its end:
/// so no other host can own a shard while we still start pushes for it. Moments are milliseconds of a clock that all
/// processes of the host share and that runs while the host is suspended; the wall clock does not matter.
package struct LeaseClock: Hashable, Sendable {
    /// How long Redis keeps a lease.
    package static let lease = Duration.seconds(10)
    /// Nothing is started in a lease's last moments, so that pushes leave the host before its end.
    package static let margin = Duration.seconds(2)
    package static let renewInterval = Duration.seconds(3)

    /// Nothing is started from then on.
    package private(set) var end: UInt64

    package init(end: UInt64 = 0) { self.end = end }

    /// Redis has confirmed every lease; the first call was made at `start`.
    package mutating func confirmed(from start: UInt64) {
        end = max(end, start + UInt64(clamping: (Self.lease - Self.margin) / .milliseconds(1)))
    }

    package func mayStart(at now: UInt64) -> Bool { now < end }
}

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

/// Since when places that another living host should own have been free.
///
/// It may not know that it should, or not be able to: a host that sees a free shard for long takes it.
package struct UnclaimedFields<Place: Hashable & Sendable>: Sendable {
    /// As long as a lease: a host that lives has looked several times.
    package static var grace: Duration { .seconds(10) }

    private var since: [Place: Instant] = [:]

    package init() {}

    package mutating func see(_ place: Place, isFree: Bool, at now: Instant) {
        if !isFree { since[place] = nil } else if since[place] == nil { since[place] = now }
    }

    /// No host has taken it in time.
    package func isOverdue(_ place: Place, at now: Instant) -> Bool {
        since[place].map { $0.duration(to: now) >= Self.grace } ?? false
    }
}
