/// Checks job records at each observation and at the end.
extension Checker {
    private static let outcomes = ["delivered", "failed", "expired", "cancelled"]

    mutating func checkJobRecords() {
        var before: [String: [String: Int]] = [:]
        var time: Int64 = 0
        var reported: Set<String> = []
        let campaigns = Set(evidence.campaigns.map(\.id))
        for note in evidence.notes {
            // Redis may have lost data since the last observation, and job records may then have smaller counts than before. The
            // run may notice the restart of Redis later than an observation, so the checker compares time ranges.
            let between = min(time, note.at)...note.at
            if expectation.rollBacks.contains(where: { $0.away.overlaps(between) }) { before = [:] }
            time = note.at
            guard let jobRecords = note.jobRecords else { continue }
            for (job, fields) in jobRecords {
                let numbers = fields.compactMapValues { Int($0) }
                if let fault = Self.fault(fields, numbers, before[job])
                    ?? Self.fault(ofAdding: numbers, before[job], isCampaign: campaigns.contains(job))
                {
                    verdict.wrongSums += 1
                    // A wrong job record stays wrong, so the first complaint is enough.
                    if reported.insert(job).inserted {
                        verdict.complain(.accounting, "job \(job) at observation \(note.number): \(fault)")
                    }
                }
                before[job] = numbers
            }
            for job in before.keys where jobRecords[job] == nil {
                verdict.complain(
                    .accounting, "the record of job \(job) is missing at observation \(note.number)")
                before[job] = nil
            }
        }
        for (id, job) in pushes.jobs where !job.refused { checkEnd(id, job) }
        for key in evidence.leftovers { verdict.complain(.accounting, "\(key) at the end") }
    }

    /// Returns how a job record breaks a rule that applies at any moment; nil if the job record breaks no rule.
    private static func fault(_ fields: [String: String], _ numbers: [String: Int], _ before: [String: Int]?)
        -> String?
    {
        func n(_ field: String) -> Int { numbers[field] ?? 0 }
        let reasons = numbers.reduce(0) { $0 + ($1.key.hasPrefix("reason:") ? $1.value : 0) }
        let closed = outcomes.reduce(0) { $0 + n($1) }
        let open = ["in_flight", "delayed"].reduce(0) { $0 + n($1) }
        // While a campaign adds pushes, `adding` is 1, and `accepted` is 1 higher than the number of accepted pushes. So the job
        // cannot finish.
        if n("submitted") + n("adding") != n("accepted") + n("malformed") + n("duplicates") {
            return "submitted \(n("submitted")) is not accepted, malformed and duplicates"
        }
        if n("accepted") < closed + open {
            return "accepted \(n("accepted")), but outcomes and open make \(closed + open)"
        }
        if n("failed") != reasons { return "failed \(n("failed")), and \(reasons) reasons" }
        if let field = numbers.first(where: { $0.value < 0 }) { return "\(field.key) is \(field.value)" }
        let isFinished = fields["state"] == "finished"
        if isFinished != (closed == n("accepted")) || isFinished && open > 0 {
            return "\(fields["state"] ?? "no state") with \(closed) of \(n("accepted")) closed, \(open) open"
        }
        guard let before else { return nil }
        let isAdding = before["adding"] == 1
        for field in isAdding ? ["created_at"] : ["submitted", "accepted", "created_at"]
        where before[field] != numbers[field] {
            return "\(field) was \(before[field] ?? 0), is \(n(field))"
        }
        for field in outcomes + ["maybe_duplicated"] where before[field] ?? 0 > n(field) {
            return "\(field) was \(before[field] ?? 0), is \(n(field))"
        }
        return nil
    }

    /// Returns how the field `adding` of a job record breaks a rule; nil if it breaks no rule.
    private static func fault(
        ofAdding numbers: [String: Int], _ before: [String: Int]?, isCampaign: Bool
    ) -> String? {
        let adding = numbers["adding"] ?? 0
        guard adding == 0 || adding == 1 && isCampaign else { return "adding is \(adding)" }
        guard let before else { return nil }
        if before["adding"] == nil, adding == 1 { return "adding is 1 again" }
        let (old, new) = (
            (before["accepted"] ?? 0) - (before["adding"] ?? 0), (numbers["accepted"] ?? 0) - adding
        )
        if new < old { return "accepted was \(old) without adding, is \(new)" }
        if numbers["submitted"] ?? 0 < before["submitted"] ?? 0 {
            return "submitted was \(before["submitted"] ?? 0), is \(numbers["submitted"] ?? 0)"
        }
        return nil
    }

    private mutating func checkEnd(_ id: String, _ job: JoinedPushes.Job) {
        guard let jobRecord = job.jobRecord else {
            if let accepted = job.acceptedAt, !mayBeForgotten(accepted) {
                verdict.complain(.accounting, "no record of job \(id)")
            }
            return
        }
        if jobRecord["state"] != "finished" { verdict.complain(.accounting, "job \(id) is not finished") }
        let submitted = job.promise.tokens.count
        if job.count("submitted") != submitted || job.count("accepted") != job.pushes.count {
            verdict.complain(
                .accounting,
                "job \(id) has \(job.count("submitted")) submitted and \(job.count("accepted")) accepted, "
                    + "its producer \(submitted) and \(job.pushes.count)")
        }
    }
}
