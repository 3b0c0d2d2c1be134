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

/// How long to wait between two rounds of settling: entries that come close together are settled together.
///
/// A job record that many reports are about is then changed once for all of them. Pauses get longer only while each ends
/// with more to settle, so a farm that sends little does not wait.
package struct SettlePace {
    static let shortest = Duration.milliseconds(5)
    static let longest = Duration.milliseconds(40)

    package private(set) var pause = Self.shortest
    private var isBusy = false

    package init() {}

    /// There was something to settle.
    package mutating func settled() {
        if isBusy { pause = min(pause * 2, Self.longest) }
        isBusy = true
    }

    /// There was nothing to settle for a while.
    package mutating func idled() {
        pause = Self.shortest
        isBusy = false
    }
}
