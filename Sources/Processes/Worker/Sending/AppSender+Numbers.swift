import ControlChannel
import Delivery

/// An app's counters for a worker's heartbeats and dumps.
extension AppSender {
    /// Returns the app's counters since the last call; nil when nothing has happened.
    func takeNumbers() -> WorkerNotice.Heartbeat.App? {
        var numbers = WorkerNotice.Heartbeat.App(name: name)
        numbers.connections = UInt32(pool.connections.count)
        numbers.openStreams = UInt32(pool.openStreams)
        if let rate = governor.rate {
            numbers.slowedTo = UInt32(clamping: Int(clamping: max(1, min(rate, 1e9))))
        }
        if !window.isEmpty {
            numbers.isStalled = pool.isStalled
            if gatewayHealth.isLasting { numbers.trouble = gatewayHealth.reason }
        }
        counts.take(into: &numbers, dials: pool.dials, latencies: pool.takeLatencies())
        return numbers == WorkerNotice.Heartbeat.App(name: name) ? nil : numbers
    }

    /// Adds the app's counters to the counters of the whole worker.
    func add(to sum: inout WorkerNotice.Heartbeat) {
        sum.connections += UInt32(pool.connections.count)
        sum.openStreams += UInt32(pool.openStreams)
        sum.batches += UInt32(window.batchCount)
        sum.sent += counts.sent
        sum.delivered += counts.delivered
        sum.failed += counts.failed
        sum.retried += counts.retried
        sum.dials += UInt64(pool.dials)
        if let rate = governor.rate { sum.slowedTo += UInt64(clamping: max(1, min(rate, 1e9))) }
        if let numbers = takeNumbers() { sum.apps.append(numbers) }
    }

    var summary: String {
        let state = suspension.map { "\($0)" } ?? "sending"
        return [
            state, "shards \(shards.count)", "batches \(window.batchCount)", "in flight \(pool.openStreams)",
            "not reported \(window.creditInUse)", "waiting high \(window.waitingBatches(of: .high))",
            "bulk \(window.waitingBatches(of: .bulk))", "dials \(pool.dials)",
        ].joined(separator: ", ")
    }

    var connectionSummaries: [String] {
        pool.connections.map { connection in
            var words = ["open \(connection.openStreams) of \(connection.limit)"]
            if connection.isRetired { words.append("spent") }
            if connection.isSlowed { words.append("slowed") }
            if !connection.isProven { words.append("not proven") }
            words.append("bytes \(connection.bytesWritten)")
            return words.joined(separator: ", ")
        }
    }
}
