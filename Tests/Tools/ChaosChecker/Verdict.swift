/// The result of the checker.
package struct Verdict: Sendable {
    /// Pushes that producers know to be accepted, or that have a job record.
    package var pushes = 0
    package var delivered = 0
    package var lost = 0
    package var unexpected = 0
    package var doubled = 0
    package var maybeDuplicated = 0
    package var falseClaims = 0
    package var missedClaims = 0
    /// Pushes without a reply to their producer that were delivered.
    package var recovered = 0
    /// Pushes of jobs that Redis lost in a reset.
    package var forgotten = 0
    /// First attempts that came before those of an earlier job for the same token.
    package var outOfOrder = 0
    /// Times that a device had requests under way over two connections.
    package var crossings = 0
    /// Times that two senders were at work for one shard.
    package var overlaps = 0
    /// Observations of the job records.
    package var looks = 0
    /// Wrong sums at an observation.
    package var wrongSums = 0
    /// The longest time from the end of a fault to the next delivery, in milliseconds.
    package var recovery: Int64 = 0
    /// From the end of the last fault until the last job record was finished, in milliseconds.
    package var finishedAfter: Int64 = 0
    package var complaints: [Complaint] = []

    package init() {}

    package var isGood: Bool { complaints.isEmpty }

    mutating func complain(_ kind: Complaint.Kind, _ text: @autoclosure () -> String) {
        counts[kind, default: 0] += 1
        // Only the first complaints are kept; the others are counted.
        if counts[kind, default: 0] <= Self.named { complaints.append(Complaint(kind, text())) }
    }

    /// Complaints of each kind, also those that are not kept.
    package private(set) var counts: [Complaint.Kind: Int] = [:]
    private static let named = 20
}
