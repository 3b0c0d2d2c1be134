/// Something that must not be, with the name of what it is about.
package struct Complaint: Equatable, Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable, CaseIterable {
        /// Accepted, and neither delivered nor failed for a reason that somebody can see.
        case lost
        /// At the gateway, and nobody asked for it.
        case unexpected
        /// Delivered again, more often than the farm says or than what was done explains.
        case doubled
        /// Counted as delivered, and not at the gateway.
        case falseClaim = "false claim"
        /// At the gateway, and counted as failed.
        case missedClaim = "missed claim"
        /// Numbers do not add up, go back, or do not agree with what others wrote down.
        case books
        /// Events are missing, are there twice, or contradict the gateway.
        case events
        /// First attempts of a token out of the order of their jobs.
        case order
        /// Two connections carried requests for one shard by turns.
        case senders
        /// Took too long.
        case stalled
        /// A ledger itself cannot be right.
        case ledger
    }

    package let kind: Kind
    package let text: String

    package init(_ kind: Kind, _ text: String) { (self.kind, self.text) = (kind, text) }

    package var description: String { "\(kind.rawValue): \(text)" }
}
