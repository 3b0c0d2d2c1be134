import EventLoop
import FarmPolicy
import PushModel
import RedisClient
import StoreProtocol

/// Why pushes of a job are delayed: they wait for `deliver_at` or for the next attempt.
struct JobDelay: Equatable, Sendable {
    /// When the first of the delayed pushes is due, in Unix milliseconds.
    let due: Int64
    /// The attempts so far, or 0 for pushes that wait for `deliver_at`.
    let attempts: Int
    let maxAttempts: Int
    /// Why the last attempt failed; empty before the first attempt.
    let cause: String

    /// The delay in words: "due in 23 h 4 min", "retry 3 of 8 in 40 s: ServiceUnavailable".
    ///
    /// - Parameter now: Unix milliseconds of Redis's clock.
    func text(at now: Int64) -> String {
        let wait = due > now ? "in " + Figures.time(.milliseconds(due - now)) : "now"
        guard attempts > 0 || !cause.isEmpty else { return "due \(wait)" }
        let number = min(attempts + 1, maxAttempts)
        return "retry \(number) of \(maxAttempts) \(wait)"
            + (cause.isEmpty ? "" : ": \(PlainText.of(cause, limit: 60))")
    }

    var json: JSONValue {
        .object([
            "due_at": .number(due), "attempts": .number(attempts), "max_attempts": .number(maxAttempts),
            "cause": .string(cause),
        ])
    }
}

extension FarmClient {
    /// How many delayed batches of an app are read at most. The batches that are due first are read first.
    private static let mostBatches = 20_000
    private static let bodies = 64

    /// The delay of each job, according to the job's delayed batch that is due first.
    ///
    /// - Parameter jobs: jobs of the app. The result does not have a job if too many batches of other jobs are due
    ///   before its delayed batches.
    func delays(of jobs: Set<String>, _ app: String) async throws(CommandFailure) -> [String: JobDelay] {
        var found: [String: JobDelay] = [:]
        var start = 0
        while found.count < jobs.count, start < Self.mostBatches {
            let page = try await call(ReadDelayed(.ranks(from: start, count: Self.bodies)), app).entries
            guard !page.isEmpty else { break }
            for (entry, batch) in zip(page, try await call(ReadBatches(page.map(\.id)), app)) {
                guard let batch else { continue }
                for (index, jobPart) in batch.jobParts.enumerated() {
                    let job = batch.jobID(of: index)
                    guard jobs.contains(job), found[job] == nil else { continue }
                    found[job] = JobDelay(
                        due: entry.due, attempts: Int(jobPart.attempt),
                        maxAttempts: Int(jobPart.options.maxAttempts), cause: batch.text(jobPart.cause))
                }
            }
            start += page.count
        }
        return found
    }

    /// The reasons why open pushes of a job are not sent now, one sentence each. Empty when no reason is known.
    func delays(of jobRecord: JobRecord) async throws(CommandFailure) -> [String] {
        guard jobRecord.state == .open else { return [] }
        var reasons: [String] = []
        if let pause = try await call(ReadAppState(), jobRecord.app).pause {
            reasons.append("the app is paused: \(PlainText.of(pause.reason, limit: 200))")
        }
        for mark in try await pauses(.jobs, jobRecord.app) where mark.text == jobRecord.id {
            let by = mark.by.isEmpty ? "the farm" : PlainText.of(mark.by)
            let why = mark.reason.isEmpty ? "" : ": " + PlainText.of(mark.reason, limit: 200)
            reasons.append("the job is paused by \(by) (\(PlainText.of(mark.kind)))\(why)")
        }
        if jobRecord.queued + jobRecord.inFlight > 0, let trouble = await gatewayTrouble(jobRecord.app) {
            reasons.append(trouble)
        }
        if let paused = jobRecord.pausedReason {
            reasons.append("quarantined: \(PlainText.of(paused, limit: 200))")
        }
        if jobRecord.delayed > 0,
            let delay = try await delays(of: [jobRecord.id], jobRecord.app)[jobRecord.id]
        {
            let now = try await clock().clampedMilliseconds
            reasons.append(
                "\(Figures.counted(jobRecord.delayed, "push is", "pushes are")) delayed; the first: \(delay.text(at: now))"
            )
        }
        return reasons
    }

    /// The text of the alert for an unresponsive gateway, or nil when the alert has not fired or this Redis user may
    /// not read alerts.
    private func gatewayTrouble(_ app: String) async -> String? {
        let alert = Alert(.gatewayStalled, .app(app))
        let raised = try? await FarmRedis(connection: redis).activeAlerts()
        return raised?.first { $0.id == alert.id }.map { PlainText.of($0.text, limit: 200) }
    }
}
