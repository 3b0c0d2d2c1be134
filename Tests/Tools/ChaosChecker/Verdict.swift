/// The result of the checker.
package struct Verdict: Sendable {
    /// The number of pushes that Redis accepted from a producer or that have a job record.
    package var pushes = 0
    package var delivered = 0
    package var lost = 0
    package var unexpected = 0
    package var duplicates = 0
    package var maybeDuplicated = 0
    package var falseClaims = 0
    package var missedClaims = 0
    /// The number of delivered pushes whose producer got no reply from Redis.
    package var recovered = 0
    /// The number of pushes whose jobs Redis lost in a reset.
    package var forgotten = 0
    /// The number of first attempts that came before the first attempt of an earlier job for the same token.
    package var outOfOrder = 0
    /// How often a device had requests in flight on two connections at the same time.
    package var crossings = 0
    /// How often two senders sent for one shard at the same time.
    package var overlaps = 0
    /// The number of observations of the job records.
    package var observations = 0
    /// The number of wrong sums in observed job records.
    package var wrongSums = 0
    /// The longest time from the end of a fault to the next delivery, in milliseconds.
    package var recovery: Int64 = 0
    /// The time from the end of the last fault until the last job record was finished, in milliseconds.
    package var finishedAfter: Int64 = 0
    package var complaints: [BrokenPromise] = []

    package init() {}

    package var isGood: Bool { complaints.isEmpty }

    mutating func complain(_ kind: BrokenPromise.Kind, _ text: @autoclosure () -> String) {
        counts[kind, default: 0] += 1
        // The verdict keeps only the first complaints of each kind and counts the other complaints.
        if counts[kind, default: 0] <= Self.named { complaints.append(BrokenPromise(kind, text())) }
    }

    /// The number of complaints of each kind, including complaints that are not kept.
    package private(set) var counts: [BrokenPromise.Kind: Int] = [:]
    private static let named = 20
}
