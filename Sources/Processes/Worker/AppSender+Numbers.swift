import ControlChannel
import FarmPolicy
import Gateway

/// What a worker tells of an app with its beats.
extension AppSender {
    /// The app's numbers since the last call; nil when there is nothing to tell.
    func takeNumbers() -> Notice.Beat.App? {
        var numbers = Notice.Beat.App(name: name)
        numbers.connections = UInt32(pool.connections.count)
        numbers.openStreams = UInt32(pool.openStreams)
        if let rate = governor.rate {
            numbers.slowedTo = UInt32(clamping: Int(clamping: max(1, min(rate, 1e9))))
        }
        if !window.held.isEmpty {
            numbers.isStalled = pool.isStalled
            // Each pause ended with a probe that fared no better.
            if breaker.pauses >= 3 { numbers.trouble = trouble }
        }
        (numbers.sent, numbers.dials) = (counts.sent &- told.sent, UInt32(pool.dials - told.dials))
        told = (counts.sent, pool.dials)
        numbers.gateway = Notice.Beat.Times(pool.takeLatencies())
        numbers.highWait = Notice.Beat.Times(waits[0])
        numbers.bulkWait = Notice.Beat.Times(waits[1])
        waits = [LatencyCounts(), LatencyCounts()]
        return numbers == Notice.Beat.App(name: name) ? nil : numbers
    }
}

extension Notice.Beat.Times {
    fileprivate init(_ counts: LatencyCounts) { self.init(counts.counts, milliseconds: counts.milliseconds) }
}
