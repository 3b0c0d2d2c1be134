import FarmPolicy
import StoreProtocol

/// Which of the leases that a host lacks it asks for: those that should be its own as soon as they are free, and those of
/// others after they have stayed free.
struct LeaseDemand {
    /// What should be ours.
    var assigned: AssignedFields
    /// To be taken even from a living owner.
    private var fieldsToTake: Set<LeaseField> = []
    private var vacancies = UnclaimedFields<LeaseField>()
    /// When a field that should be ours may become free.
    private(set) var nextTry: HeldLeases.Instant?

    init(_ assigned: AssignedFields) { self.assigned = assigned }

    mutating func takeFromOwner(_ field: LeaseField) { fieldsToTake.insert(field) }

    /// - Parameters:
    ///   - isQuiet: the host leaves to others what is theirs.
    ///   - takesAll: a fault that a test puts in.
    func sort(
        _ missing: [LeaseField], isQuiet: Bool, takesAll: Bool, at now: HeldLeases.Instant
    ) -> (wanted: [LeaseField], others: [LeaseField], seized: [LeaseField]) {
        let seized = missing.filter { fieldsToTake.contains($0) }
        let rest = missing.filter { !fieldsToTake.contains($0) }
        func isWanted(_ field: LeaseField) -> Bool {
            assigned.contains(field) || !isQuiet && vacancies.isOverdue(field, at: now) || takesAll
        }
        return (rest.filter(isWanted), rest.filter { !isWanted($0) }, seized)
    }

    /// - Parameter now: from before the call.
    mutating func answered(
        _ answers: some Sequence<(LeaseField, AcquireLeases.Answer)>, at now: HeldLeases.Instant
    ) {
        nextTry = nil
        for (field, answer) in answers {
            fieldsToTake.remove(field)
            vacancies.see(field, isFree: answer == .free, at: now)
            guard case .taken(let left) = answer, assigned.contains(field) else { continue }
            nextTry = min(nextTry ?? now + left, now + left)
        }
    }
}
