package import StoreProtocol

/// Puts settlements together into calls that do not hold up Redis for more than 5 ms.
package struct SettleCalls {
    private static let most = 64
    /// Different jobs: a job's numbers are added up before its record is changed.
    private static let jobs = 256
    private static let events = 1024
    /// And dead letters.
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
