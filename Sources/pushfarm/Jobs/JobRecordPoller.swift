import EventLoop
import StoreProtocol

/// Waits until jobs are finished.
@Loop struct JobRecordPoller {
    let client: FarmClient
    let console: Console

    /// A refused job never gets a job record: it is looked for in the events.
    func wait(_ ids: [String], _ app: String) async throws(CommandFailure) -> [JobRecord] {
        var jobRecords: [String: JobRecord] = [:]
        var progress: ProgressLine?
        defer { progress?.finish() }
        var pause = Duration.milliseconds(10)
        while true {
            for id in ids where jobRecords[id]?.state != .finished {
                if let jobRecord = try await client.jobRecord(id, app) {
                    jobRecords[id] = jobRecord
                } else if let reason = try await client.refusal(of: id, app) {
                    throw .failed("job \(id) was refused: \(reason)")
                }
            }
            let known = ids.compactMap { jobRecords[$0] }
            if known.count == ids.count, known.allSatisfy({ $0.state == .finished }) { return known }
            let total = known.reduce(0) { $0 + $1.accepted }
            if progress == nil, total > 0 {
                progress = ProgressLine("delivering", total: total, quiet: console.json)
            }
            progress?.update(known.reduce(0) { $0 + $1.settled })
            do { try await Loop.sleep(for: pause) } catch { return known }
            pause = min(pause * 2, .milliseconds(250))
        }
    }
}

extension JobRecord {
    /// Pushes that have an outcome.
    var settled: Int { delivered + failed + expired + cancelled }
}
