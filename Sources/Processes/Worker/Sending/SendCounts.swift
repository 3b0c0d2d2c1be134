import ControlChannel
import Delivery
import FarmPolicy
import PushModel

/// Counts an app's sent pushes and outcomes for the worker's heartbeats.
struct SendCounts {
    private var counts = WorkerNotice.Heartbeat()
    /// The time from the split to the first send, by lane, since the last heartbeat.
    private var waits = [LatencyCounts(), LatencyCounts()]
    private var reported: (sent: UInt64, dials: Int) = (0, 0)

    var sent: UInt64 { counts.sent }
    var delivered: UInt64 { counts.delivered }
    var failed: UInt64 { counts.failed }
    var retried: UInt64 { counts.retried }

    mutating func addDelivered() { counts.delivered += 1 }

    mutating func addFailed(_ count: Int) { counts.failed += UInt64(count) }

    mutating func add(_ outcome: UndeliveredResult) {
        switch outcome {
        case .tokenFailed, .deadLetter, .suppressed, .becameUnknown, .expired: counts.failed += 1
        case .retry: counts.retried += 1
        }
    }

    /// Counts sent pushes of a batch; the time is in milliseconds of the Redis clock.
    mutating func addSent(_ count: Int, of batch: HeldBatch, at milliseconds: Int64) {
        counts.sent += UInt64(count)
        if let since = batch.waitsSince, count > 0 {
            waits[Int(batch.lane.rawValue)].add(UInt64(max(0, milliseconds - since)), times: UInt64(count))
        }
    }

    /// Writes the counts since the last call.
    mutating func take(into numbers: inout WorkerNotice.Heartbeat.App, dials: Int, latencies: LatencyCounts) {
        (numbers.sent, numbers.dials) = (counts.sent &- reported.sent, UInt32(dials - reported.dials))
        reported = (counts.sent, dials)
        numbers.gateway = WorkerNotice.Heartbeat.Times(latencies)
        numbers.highWait = WorkerNotice.Heartbeat.Times(waits[0])
        numbers.bulkWait = WorkerNotice.Heartbeat.Times(waits[1])
        waits = [LatencyCounts(), LatencyCounts()]
    }
}

extension WorkerNotice.Heartbeat.Times {
    fileprivate init(_ counts: LatencyCounts) { self.init(counts.counts, milliseconds: counts.milliseconds) }
}
