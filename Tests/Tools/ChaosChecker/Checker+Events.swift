/// Checks the events stream against job records and promises.
extension Checker {
    mutating func checkEvents() {
        var accepted: [String: Int] = [:]
        var finished: [String: EventNote] = [:]
        for event in evidence.events {
            switch event.type {
            case "job.accepted": accepted[event.job, default: 0] += 1
            case "job.finished":
                if finished[event.job] != nil { verdict.complain(.events, "job \(event.job) finished twice") }
                finished[event.job] = event
            default: break
            }
        }
        for (id, job) in pushes.jobs {
            guard job.jobRecord != nil else { continue }
            if accepted[id] != 1 {
                verdict.complain(.events, "\(accepted[id] ?? 0) job.accepted for job \(id)")
            }
            if let event = finished[id] {
                compare(id, job, event)
            } else {
                verdict.complain(.events, "no job.finished for job \(id)")
            }
            compareCounts(id, job)
        }
    }

    private mutating func compare(_ id: String, _ job: JoinedPushes.Job, _ event: EventNote) {
        for field in ["accepted", "delivered", "failed", "expired", "cancelled"]
        where Self.number(field, of: event) != job.count(field) {
            verdict.complain(
                .events,
                "job.finished of \(id) says \(field) \(event.fields[field] ?? "nothing"), "
                    + "the job record \(job.count(field))")
        }
    }

    /// Returns a count of an event. Events omit counts of 0, except accepted and delivered.
    private static func number(_ field: String, of event: EventNote) -> Int? {
        let isAlwaysReported = field == "accepted" || field == "delivered"
        return event.fields[field].map { Int($0) } ?? (isAlwaysReported ? nil : 0)
    }

    private mutating func compareCounts(_ id: String, _ job: JoinedPushes.Job) {
        let failed = job.pushes.values.count { $0.failure?.type == "push.failed" }
        let expired = job.pushes.values.count { $0.failure?.type == "push.expired" }
        if failed != job.count("failed") || expired != job.count("expired") {
            verdict.complain(
                .events,
                "\(failed) push.failed and \(expired) push.expired for job \(id), the job record has "
                    + "\(job.count("failed")) and \(job.count("expired"))")
        }
        guard job.promise.allReceipts else { return }
        let delivered = job.pushes.values.count { $0.isReportedDelivered }
        if delivered != job.count("delivered") {
            verdict.complain(
                .events,
                "\(delivered) push.delivered for job \(id), the job record has \(job.count("delivered"))")
        }
    }
}
