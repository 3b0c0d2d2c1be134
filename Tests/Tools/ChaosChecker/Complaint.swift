/// A broken promise, with the job, push or shard that it is about.
package struct Complaint: Equatable, Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable, CaseIterable {
        /// Accepted, and neither delivered nor failed for a visible reason.
        case lost
        /// At the gateway, without a job.
        case unexpected
        /// Delivered again, more often than the farm counts or the faults explain.
        case doubled
        /// Counted as delivered, and not at the gateway.
        case falseClaim = "false claim"
        /// At the gateway, and counted as failed.
        case missedClaim = "missed claim"
        /// Numbers do not add up, decrease, or contradict other records.
        case books
        /// Events are missing or repeated, or contradict the gateway.
        case events
        /// First attempts of a token out of the order of their jobs.
        case order
        /// Two connections carried requests for one shard by turns.
        case senders
        /// Took too long.
        case stalled
        /// A ledger is inconsistent.
        case ledger
    }

    package let kind: Kind
    package let text: String

    package init(_ kind: Kind, _ text: String) { (self.kind, self.text) = (kind, text) }

    package var description: String { "\(kind.rawValue): \(text)" }
}
