/// A broken promise, with the job, push or shard that broke it.
package struct BrokenPromise: Equatable, Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable, CaseIterable {
        /// An accepted push was not delivered, and did not fail for a visible reason.
        case lost
        /// The gateway received a push that belongs to no job.
        case unexpected
        /// A push was delivered more often than the farm counts or the faults explain.
        case duplicated
        /// A push was counted as delivered and did not reach the gateway.
        case falseClaim = "false claim"
        /// A push reached the gateway and was counted as failed.
        case missedClaim = "missed claim"
        /// The counts of a job record do not add up, decrease, or contradict other records.
        case accounting
        /// Events are missing or repeated, or they contradict the gateway.
        case events
        /// The first attempts of a token came in another order than their jobs.
        case order
        /// Two connections alternated for one shard.
        case senders
        /// Deliveries resumed too late after a fault.
        case stalled
        /// A ledger is inconsistent.
        case ledger
    }

    package let kind: Kind
    package let text: String

    package init(_ kind: Kind, _ text: String) { (self.kind, self.text) = (kind, text) }

    package var description: String { "\(kind.rawValue): \(text)" }
}
