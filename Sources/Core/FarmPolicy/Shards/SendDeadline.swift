/// The time until which this host may start pushes, because its coordinator holds the leases at least until then.
///
/// For Redis, a lease begins when Redis executes the call that renews it. For the host, it begins earlier, when the
/// host sends the call, so for the host it also ends earlier. In addition, the host starts no pushes in the last
/// ``margin`` of a lease. So this host never starts pushes of a shard that another host owns. Times are milliseconds of
/// a clock that all processes of the host share. The clock also runs while the host is suspended, and does not change
/// when the wall clock is set.
package struct SendDeadline: Hashable, Sendable {
    /// How long Redis keeps a lease.
    package static let lease = Duration.seconds(10)
    /// The last part of a lease, in which the host starts no push. In this time, the pushes that were started before
    /// leave the host.
    package static let margin = Duration.seconds(2)
    package static let renewInterval = Duration.seconds(3)

    /// No push is started at this time or later.
    package private(set) var end: UInt64

    package init(end: UInt64 = 0) { self.end = end }

    /// Notes that Redis has renewed all leases. `start` is when the host sent the first of the calls.
    package mutating func confirmed(from start: UInt64) {
        end = max(end, start + UInt64(clamping: (Self.lease - Self.margin) / .milliseconds(1)))
    }

    package func mayStart(at now: UInt64) -> Bool { now < end }
}

/// The app's shards that are being withdrawn from this host's workers and handed over to other hosts.
///
/// Only a few shards are withdrawn at a time, because no pushes of a withdrawn shard are sent. If a worker does not
/// release a withdrawn shard in time, the host keeps the shard, and withdraws it again after a while.
package struct HandOver: Sendable {
    /// The number of shards of one app that are withdrawn at the same time.
    package static let most = 4
    /// How long a worker may take to receive the responses to its pushes in flight and to report the outcomes.
    package static let timeout = Duration.seconds(25)
    /// How long a shard that its worker did not release in time is not withdrawn again.
    package static let retryPause = Duration.seconds(30)

    private var since: [Int: Instant] = [:]
    private var keptSince: [Int: Instant] = [:]

    package init() {}

    package var leaving: Set<Int> { Set(since.keys) }

    package func isLeaving(_ shard: Int) -> Bool { since[shard] != nil }

    /// - Parameters:
    ///   - shards: the shards that other hosts should own.
    ///   - isAll: whether to withdraw all shards at once, for example because this host exits.
    /// - Returns: the shards to withdraw now.
    package mutating func begin(_ shards: [Int], isAll: Bool = false, at now: Instant) -> [Int] {
        let room = isAll ? shards.count : max(0, Self.most - since.count)
        let chosen = shards.filter { shard in
            guard since[shard] == nil else { return false }
            return isAll || keptSince[shard].map { $0.duration(to: now) >= Self.retryPause } ?? true
        }.prefix(room)
        for shard in chosen {
            since[shard] = now
            keptSince[shard] = nil
        }
        return Array(chosen)
    }

    /// Removes and returns the shards whose withdrawal took too long; this host keeps them.
    package mutating func overdue(at now: Instant) -> [Int] {
        let late = since.filter { $0.value.duration(to: now) >= Self.timeout }.keys.sorted()
        for shard in late {
            since[shard] = nil
            keptSince[shard] = now
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
        keptSince[shard] = nil
    }
}

/// The free leases that another live host should acquire, each with the time since which the lease has been free.
///
/// The host that should own a lease may be unable to acquire it. So if a lease stays free for too long, any host
/// acquires it.
package struct UnclaimedLeases<Lease: Hashable & Sendable>: Sendable {
    /// How long a free lease stays reserved for the host that should own it. The time is long enough: a live host looks
    /// for free leases several times in it. It is equal to the time for which Redis keeps a lease.
    package static var grace: Duration { .seconds(10) }

    private var since: [Lease: Instant] = [:]

    package init() {}

    package mutating func observe(_ lease: Lease, isFree: Bool, at now: Instant) {
        if !isFree { since[lease] = nil } else if since[lease] == nil { since[lease] = now }
    }

    /// Whether the lease has been free for so long that any host may acquire it.
    package func isOverdue(_ lease: Lease, at now: Instant) -> Bool {
        since[lease].map { $0.duration(to: now) >= Self.grace } ?? false
    }
}
