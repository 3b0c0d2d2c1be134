import FarmPolicy
import StoreProtocol

/// Chooses which missing leases a host requests: its assigned leases as soon as they are free, and leases that are
/// assigned to other hosts only after these leases have stayed free for a while.
struct LeaseDemand {
    /// The leases that are assigned to this host.
    var assigned: AssignedLeases
    /// Leases that this host requests even from a live owner.
    private var leasesToTake: Set<LeaseID> = []
    private var unclaimed = UnclaimedLeases<LeaseID>()
    /// The earliest time at which a lease that is assigned to this host, but has another owner, may become free; nil if there is
    /// no such lease.
    private(set) var nextTry: LeaseStateMachine.Instant?

    init(_ assigned: AssignedLeases) { self.assigned = assigned }

    mutating func takeFromOwner(_ lease: LeaseID) { leasesToTake.insert(lease) }

    /// - Parameters:
    ///   - isQuiet: whether the host is quiet, so it requests only its assigned leases.
    ///   - takesAll: a fault that a test injects.
    func classify(
        _ missing: [LeaseID], isQuiet: Bool, takesAll: Bool, at now: LeaseStateMachine.Instant
    ) -> (wanted: [LeaseID], others: [LeaseID], takenFromOwner: [LeaseID]) {
        let takenFromOwner = missing.filter { leasesToTake.contains($0) }
        let rest = missing.filter { !leasesToTake.contains($0) }
        func isWanted(_ lease: LeaseID) -> Bool {
            assigned.contains(lease) || !isQuiet && unclaimed.isOverdue(lease, at: now) || takesAll
        }
        return (rest.filter(isWanted), rest.filter { !isWanted($0) }, takenFromOwner)
    }

    /// - Parameter now: the time before the call to Redis.
    mutating func observe(
        _ states: some Sequence<(LeaseID, AcquireLeases.LeaseState)>, at now: LeaseStateMachine.Instant
    ) {
        nextTry = nil
        for (lease, state) in states {
            leasesToTake.remove(lease)
            unclaimed.observe(lease, isFree: state == .free, at: now)
            guard case .taken(let remaining) = state, assigned.contains(lease) else { continue }
            nextTry = min(nextTry ?? now + remaining, now + remaining)
        }
    }
}
