import FarmPolicy
import StoreProtocol

/// Which of the leases that a host lacks it asks for: those that should be its own as soon as they are free, and those of
/// others after they have stayed free.
struct LeaseDemand {
    /// What should be ours.
    var rightful: RightfulFields
    /// To be taken even from a living owner.
    private var seizures: Set<LeaseField> = []
    private var vacancies = Vacancies<LeaseField>()
    /// When a field that should be ours may become free.
    private(set) var nextTry: HeldLeases.Instant?

    init(_ rightful: RightfulFields) { self.rightful = rightful }

    mutating func seize(_ field: LeaseField) { seizures.insert(field) }

    /// - Parameters:
    ///   - isQuiet: the host leaves to others what is theirs.
    ///   - takesAll: a fault that a test puts in.
    func sort(
        _ missing: [LeaseField], isQuiet: Bool, takesAll: Bool, at now: HeldLeases.Instant
    ) -> (wanted: [LeaseField], others: [LeaseField], seized: [LeaseField]) {
        let seized = missing.filter { seizures.contains($0) }
        let rest = missing.filter { !seizures.contains($0) }
        func isWanted(_ field: LeaseField) -> Bool {
            rightful.contains(field) || !isQuiet && vacancies.isOverdue(field, at: now) || takesAll
        }
        return (rest.filter(isWanted), rest.filter { !isWanted($0) }, seized)
    }

    /// - Parameter now: from before the call.
    mutating func answered(
        _ answers: some Sequence<(LeaseField, AcquireLeases.Answer)>, at now: HeldLeases.Instant
    ) {
        nextTry = nil
        for (field, answer) in answers {
            seizures.remove(field)
            vacancies.see(field, isFree: answer == .free, at: now)
            guard case .taken(let left) = answer, rightful.contains(field) else { continue }
            nextTry = min(nextTry ?? now + left, now + left)
        }
    }
}
