import FarmPolicy
import StoreProtocol

/// Chooses which missing leases a host requests: its assigned leases as soon as they are free, and leases of other hosts only
/// after these have stayed free for a while.
struct LeaseDemand {
    /// The leases that are assigned to this host.
    var assigned: AssignedFields
    /// Fields to acquire even from a live owner.
    private var fieldsToTake: Set<LeaseField> = []
    private var unclaimed = UnclaimedFields<LeaseField>()
    /// When the first of the assigned fields that other owners hold may become free.
    private(set) var nextTry: HeldLeases.Instant?

    init(_ assigned: AssignedFields) { self.assigned = assigned }

    mutating func takeFromOwner(_ field: LeaseField) { fieldsToTake.insert(field) }

    /// - Parameters:
    ///   - isQuiet: whether the host is quiet, so it requests only its assigned leases.
    ///   - takesAll: a fault that a test injects.
    func classify(
        _ missing: [LeaseField], isQuiet: Bool, takesAll: Bool, at now: HeldLeases.Instant
    ) -> (wanted: [LeaseField], others: [LeaseField], takenFromOwner: [LeaseField]) {
        let takenFromOwner = missing.filter { fieldsToTake.contains($0) }
        let rest = missing.filter { !fieldsToTake.contains($0) }
        func isWanted(_ field: LeaseField) -> Bool {
            assigned.contains(field) || !isQuiet && unclaimed.isOverdue(field, at: now) || takesAll
        }
        return (rest.filter(isWanted), rest.filter { !isWanted($0) }, takenFromOwner)
    }

    /// - Parameter now: the time before the call to Redis.
    mutating func answered(
        _ answers: some Sequence<(LeaseField, AcquireLeases.Answer)>, at now: HeldLeases.Instant
    ) {
        nextTry = nil
        for (field, answer) in answers {
            fieldsToTake.remove(field)
            unclaimed.observe(field, isFree: answer == .free, at: now)
            guard case .taken(let remaining) = answer, assigned.contains(field) else { continue }
            nextTry = min(nextTry ?? now + remaining, now + remaining)
        }
    }
}
