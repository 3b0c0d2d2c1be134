/// The time until which pushes may be started under the leases of a host's coordinator.
///
/// Redis counts the time of a lease from the moment when Redis executes the call. The host counts the time from a moment before
/// the call, and starts no pushes in the last ``margin`` before the end. So no other host can own a shard while this host still
/// starts pushes of the shard. Times are milliseconds of a clock that all processes of the host share and that runs while the
/// host is suspended. Changes of the wall clock have no effect.
package struct LeaseClock: Hashable, Sendable {
    /// How long Redis keeps a lease.
    package static let lease = Duration.seconds(10)
    /// The time before the end of a lease in which no push is started, so that all pushes have left the host when the lease ends.
    package static let margin = Duration.seconds(2)
    package static let renewInterval = Duration.seconds(3)

    /// No push is started at this time or later.
    package private(set) var end: UInt64

    package init(end: UInt64 = 0) { self.end = end }

    /// Notes that Redis has confirmed every lease; the first of the confirmed calls was made at `start`.
    package mutating func confirmed(from start: UInt64) {
        end = max(end, start + UInt64(clamping: (Self.lease - Self.margin) / .milliseconds(1)))
    }

    package func mayStart(at now: UInt64) -> Bool { now < end }
}

/// The app's shards that are being withdrawn from this host's workers and handed over to other hosts.
///
/// Only a few shards are withdrawn at a time, because withdrawn shards send nothing. A shard that its worker does
/// not release in time is kept, and not withdrawn again for a while.
package struct HandOver: Sendable {
    /// The number of shards of one app that are withdrawn at the same time.
    package static let most = 4
    /// How long a worker may take to receive the responses to its pushes in flight and to report the outcomes.
    package static let timeout = Duration.seconds(25)
    /// If a worker did not release a shard in time, the shard is not withdrawn again for this long.
    package static let retryPause = Duration.seconds(30)

    private var since: [Int: Instant] = [:]
    private var kept: [Int: Instant] = [:]

    package init() {}

    package var leaving: Set<Int> { Set(since.keys) }

    package func isLeaving(_ shard: Int) -> Bool { since[shard] != nil }

    /// - Parameters:
    ///   - shards: the shards that other hosts should own.
    ///   - isAll: whether to hand over all shards at once, as when a host exits.
    /// - Returns: the shards to withdraw now.
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

    /// Removes and returns the shards whose withdrawal took too long; this host keeps them.
    package mutating func overdue(at now: Instant) -> [Int] {
        let late = since.filter { $0.value.duration(to: now) >= Self.timeout }.keys.sorted()
        for shard in late {
            since[shard] = nil
            kept[shard] = now
        }
        return late
    }

    /// Cancels the handover of shards that this host should own again.
    package mutating func cancel(_ isWanted: (Int) -> Bool) -> [Int] {
        let back = since.keys.filter(isWanted).sorted()
        for shard in back { since[shard] = nil }
        return back
    }

    /// Notes that this host no longer owns the shard.
    package mutating func ended(_ shard: Int) {
        since[shard] = nil
        kept[shard] = nil
    }
}

/// For each free lease that another live host should own: since when the lease has been free.
///
/// The host that should own a lease may be unable to take it, so any host takes a lease that stays free for too long.
package struct UnclaimedLeases<Lease: Hashable & Sendable>: Sendable {
    /// How long a free lease stays reserved for the host that should own it. This is as long as Redis keeps a lease. In
    /// this time, a live host looks for free leases several times.
    package static var grace: Duration { .seconds(10) }

    private var since: [Lease: Instant] = [:]

    package init() {}

    package mutating func observe(_ lease: Lease, isFree: Bool, at now: Instant) {
        if !isFree { since[lease] = nil } else if since[lease] == nil { since[lease] = now }
    }

    /// Whether the host that should own the lease has not taken it in time.
    package func isOverdue(_ lease: Lease, at now: Instant) -> Bool {
        since[lease].map { $0.duration(to: now) >= Self.grace } ?? false
    }
}
