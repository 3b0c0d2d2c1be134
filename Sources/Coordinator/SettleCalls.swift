import FarmStore

/// Puts settlements together into calls that do not hold up Redis for more than 5 ms.
struct SettleCalls {
    private static let most = 64
    private static let jobs = 1024
    private static let events = 1024
    private static let retries = 64

    private(set) var calls: [[Settlement]] = []
    private var jobs = 0
    private var events = 0
    private var retries = 0

    mutating func append(_ settlement: Settlement) {
        let isFull =
            calls.last.map { $0.count >= Self.most } ?? true
            || jobs + settlement.jobs.count > Self.jobs || events + settlement.events.count > Self.events
            || retries + settlement.retries.count > Self.retries
        if isFull {
            calls.append([])
            (jobs, events, retries) = (0, 0, 0)
        }
        calls[calls.count - 1].append(settlement)
        jobs += settlement.jobs.count
        events += settlement.events.count
        retries += settlement.retries.count
    }
}
