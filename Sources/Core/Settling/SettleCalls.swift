package import StoreProtocol

/// Groups settlements into calls, so that each call blocks Redis for at most 5 ms.
package struct SettleCalls {
    private static let most = 64
    /// Maximum number of different jobs in a call. A call changes each job record once, so the number of jobs decides how long
    /// the call takes.
    private static let jobs = 256
    private static let events = 1024
    /// Maximum number of retries plus dead letters in a call.
    private static let retries = 64

    package private(set) var calls: [[Settlement]] = []
    private var jobs: Set<String> = []
    private var events = 0
    private var retries = 0

    package init() {}

    package mutating func append(_ settlement: Settlement) {
        let isFull =
            calls.last.map { $0.count >= Self.most } ?? true
            || hasTooManyJobs(with: settlement)
            || events + settlement.events.count > Self.events
            || retries + settlement.retries.count + settlement.letters.count > Self.retries
        if isFull {
            calls.append([])
            (jobs, events, retries) = ([], 0, 0)
        }
        calls[calls.count - 1].append(settlement)
        for job in settlement.jobs { jobs.insert(job.id) }
        events += settlement.events.count
        retries += settlement.retries.count + settlement.letters.count
    }

    private func hasTooManyJobs(with settlement: Settlement) -> Bool {
        guard jobs.count + settlement.jobs.count > Self.jobs else { return false }
        return jobs.union(settlement.jobs.lazy.map(\.id)).count > Self.jobs
    }
}

/// The time between two rounds of settling. Entries that arrive within this time are settled together, so a job record with many
/// reports changes only once for all these reports.
///
/// The pause grows only as long as each round finds entries, so it stays short on a farm with few pushes.
package struct SettleInterval {
    static let shortest = Duration.milliseconds(5)
    static let longest = Duration.milliseconds(40)

    package private(set) var pause = Self.shortest
    private var isBusy = false

    package init() {}

    /// Records that the last round settled entries.
    package mutating func settled() {
        if isBusy { pause = min(pause * 2, Self.longest) }
        isBusy = true
    }

    /// Records that no entries arrived for a while.
    package mutating func idled() {
        pause = Self.shortest
        isBusy = false
    }
}
