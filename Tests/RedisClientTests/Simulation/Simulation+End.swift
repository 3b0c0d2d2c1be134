import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Finishes all work and checks every number.
extension Simulation {
    /// The maximum number of turns without faults in which all work must finish. A normal run needs some dozens of turns.
    private static let mostRounds = 800

    func finish() throws {
        isQuiet = true
        isPaused = false
        note("quiet")
        // From now on only one host runs. The leases of the other hosts expire.
        orphans = []
        hosts.removeLast(hosts.count - 1)
        hosts[0].resume()
        for round in 1...Self.mostRounds {
            try step()
            guard round % 4 == 0 else { continue }
            let depths = try perform(ReadDepths(shards: Self.shards))
            if round % 12 == 0, depths.delayed > 0 {
                // Pushes may be delayed by hours, because the Redis clock may have been hours ahead at the time of the delay.
                clock.jump(600_000_000)
            }
            guard depths.isEmpty else { continue }
            if try depths.paused == 0 && !isAnyCampaignOpen() && !hasDoneReports() {
                note("the end, after \(round) turns")
                return try checkAccounting()
            }
            // Only quarantined batches are left. From now on no job crashes its readers, and an operator resumes the jobs.
            if !isCured, depths.paused > 0 { try checkPaused(depths.paused) }
            isCured = true
            try releaseAll()
        }
        throw SimulationFault.stuck(
            try perform(ReadDepths(shards: Self.shards)),
            hosts[0].workers.map(\.description).joined(separator: "; "))
    }

    /// Whether a process that reads a batch of the job crashes.
    func isPoison(_ job: String) -> Bool { !isCured && number(of: job).map { jobs[$0].isPoison } ?? false }

    /// Whether a campaign may still add pushes.
    private func isAnyCampaignOpen() throws -> Bool {
        try campaigns().values.contains { ["scheduled", "running"].contains($0.text("state")) }
    }

    /// Whether reports of done devices are not finished.
    private func hasDoneReports() throws -> Bool {
        let lists = try redis.run("EXISTS", "{pushfarm:demo}:done", "{pushfarm:demo}:done_taken").integer
        return lists ?? 0 > 0
    }

    /// The records of all campaigns, by id.
    private func campaigns() throws -> [String: [String: [UInt8]]] {
        guard profile.campaigns > 0 else { return [:] }
        let ids = try perform(LatestCampaigns(count: 1000))
        return try Dictionary(ids.map { ($0, try perform(ReadCampaign($0))) }) { first, _ in first }
    }

    /// - Returns: the number of devices that got no push because they were done or capped.
    private func checkCampaign(_ id: String, _ job: SimulatedJob, _ jobRecord: JobRecord) throws -> Int {
        let record = try campaigns()[id, default: [:]]
        let skipped = record.number("capped:1") + record.number("excluded:1")
        let handled =
            record.number("accepted") + record.number("unsendable:1") + record.number("merged:1") + skipped
        let devices = job.devices?.count ?? 0
        guard record.number("accepted") == jobRecord.accepted, !jobRecord.isAdding,
            handled == devices || record.text("state") == "cancelled"
        else { throw SimulationFault.count("\(id) handled \(handled) of \(devices): \(jobRecord)") }
        // A Redis that returns to an earlier state may lose reports.
        let done = record.number("done")
        guard done == job.reported.count || profile.rollBacks > 0 && done < job.reported.count else {
            throw SimulationFault.count("\(id) has \(done) done devices of \(job.reported.count)")
        }
        return skipped
    }

    /// Checks that no device got more pushes of campaigns with a cap than the cap allows.
    private func checkCaps() throws {
        guard !mayHaveOldCounts else { return }
        let capped = jobs.filter(\.isCapped)
        for device in 0..<(capped.map { $0.devices?.count ?? 0 }.max() ?? 0) {
            let pushes = capped.count { job in
                guard let place = job.devices?.dropFirst(device).first, let place else { return false }
                return gateway.timesKnown(job.tokens[place]) > 0
            }
            guard pushes <= SimulatedJob.cap else {
                throw SimulationFault.count("device \(device) got \(pushes) pushes despite its cap")
            }
        }
    }

    private func number(of job: String) -> Int? {
        let words = job.split(separator: "-")
        return words.count > 1 ? Int(words[1]) : nil
    }

    private func checkPaused(_ batches: Int) throws {
        if profile.poisonJobs + profile.poisonTokens + profile.holds == 0 {
            throw SimulationFault.count("\(batches) batches are quarantined and no job is poison")
        }
    }

    private func checkAccounting() throws {
        let faults = try perform(CheckAccounting(shards: Self.shards))
        guard faults.isEmpty else { throw SimulationFault.accounting(["fsck:"] + faults) }
        var jobRecords: [Int: [JobRecord]] = [:]
        for id in try perform(LatestJobs(count: 10_000)) {
            guard let jobRecord = JobRecord(id: id, app: "demo", fields: try perform(ReadJobRecord(job: id))),
                let number = number(of: id)
            else { throw SimulationFault.count("no job record of \(id)") }
            jobRecords[number, default: []].append(jobRecord)
        }
        var suspected = 0
        for job in jobs {
            let mine = jobRecords[job.number] ?? []
            if mine.isEmpty, job.mayBeLost { continue }
            guard mine.count == 1 else {
                throw SimulationFault.count("job \(job.number) has \(mine.count) job records: \(mine)")
            }
            try check(mine[0], of: job)
            suspected += mine[0].maybeDuplicated
        }
        // After a restore Redis cannot count the duplicates of acceptances that it has forgotten.
        let (duplicates, unknown) = gateway.duplicates
        guard duplicates <= suspected + unknown else {
            let twice = gateway.accepted.filter { $0.value.count > 1 }.map {
                "\($0.key.prefix(2)) in turns \($0.value.map { "\($0.turn)\($0.isForgotten ? " (forgotten)" : "")" })"
            }
            throw SimulationFault.count(
                "\(duplicates) duplicates, \(suspected) counted, \(unknown) forgotten: \(twice.sorted())")
        }
        try checkCaps()
        try checkEvents()
        try checkRest()
    }

    private func check(_ jobRecord: JobRecord, of job: SimulatedJob) throws {
        func check(_ holds: Bool, _ what: String) throws {
            guard holds else { throw SimulationFault.count("job \(job.number) \(what): \(jobRecord)") }
        }
        try check(jobRecord.state == .finished && jobRecord.queued == 0, "is not finished")
        try check(jobRecord.inFlight == 0 && jobRecord.delayed == 0, "has something open")
        let ended = jobRecord.delivered + jobRecord.failed + jobRecord.expired + jobRecord.cancelled
        try check(jobRecord.cancelled == 0 || job.mayBeCancelled, "was cancelled without a command")
        var skipped = 0
        if job.devices != nil, let id = job.id { skipped = try checkCampaign(id, job, jobRecord) }
        // A cancelled campaign adds no further pushes, and devices that are done or capped get none.
        let isCut = job.devices != nil && (job.mayBeCancelled || skipped > 0) && ended < job.tokens.count
        try check(isCut || ended == job.tokens.count, "does not add up to \(job.tokens.count)")
        let healthy = job.tokens.filter { !gateway.poison.contains($0) }
        let outcomes = healthy.map(SimulatedGateway.response)
        let poison = job.tokens.count { gateway.poison.contains($0) && SimulatedGateway.response($0) != nil }
        let expired = job.tokens.count { SimulatedGateway.response($0) == nil }
        try check(jobRecord.reasons["poison", default: 0] <= poison, "fails healthy pushes as poison")
        let reached = job.tokens.count { gateway.timesKnown($0) > 0 }
        if jobRecord.cancelled > 0 || isCut {
            // The gateway may have accepted some of the pushes that failed with an unknown outcome.
            let unknown = jobRecord.reasons["unknown", default: 0]
            try check(
                reached <= jobRecord.delivered + jobRecord.maybeDuplicated + unknown,
                "was delivered and is cancelled")
            try check(jobRecord.delivered <= outcomes.count { $0 == .delivered }, "delivered more")
        } else if job.delivery == .atLeastOnce {
            try check(jobRecord.reasons["unknown"] == nil, "has unknown outcomes")
            try check(jobRecord.reasons["poison", default: 0] == poison, "has \(poison) poison tokens")
            try check(jobRecord.delivered == outcomes.count { $0 == .delivered }, "delivered")
            try check(jobRecord.failed == poison + outcomes.count { $0 == .failed }, "failed")
            try check(jobRecord.expired == expired, "expired")
        } else {
            try check(jobRecord.maybeDuplicated == 0, "was sent again")
            let most = job.tokens.map(gateway.timesKnown).max() ?? 0
            try check(most <= 1, "was sent more than once")
        }
        let sent = job.tokens.count { gateway.times($0) > 0 }
        try check(jobRecord.delivered <= sent, "claims more than the \(sent) that were sent")
        try check(jobRecord.reasons.values.reduce(0, +) == jobRecord.failed, "has other reasons")
        try check(
            isCut || jobRecord.submitted == job.tokens.count, "was not submitted with \(job.tokens.count)")
    }

    /// Checks that no event exists twice, because producers rely on this. Redis forgets an event only together with the data of
    /// its cause.
    private func checkEvents() throws {
        var seen: [String: Int] = [:]
        var kinds: [String: Int] = [:]
        for fields in try events("events") {
            let kind = fields["type"] ?? ""
            kinds[kind, default: 0] += 1
            guard kind != "job.refused", kind != "job.paused", kind != "job.quarantined",
                kind != "job.resumed",
                kind != "job.cancelled"
            else { continue }
            let subject = fields["job"] ?? fields["campaign"] ?? ""
            seen["\(kind) \(subject) \(fields["token"] ?? "")", default: 0] += 1
        }
        if let twice = seen.first(where: { $0.value > 1 }) {
            throw SimulationFault.count("\(twice.value) times: \(twice.key)")
        }
        let jobRecords = try perform(LatestJobs(count: 10_000))
        var failed = 0
        for id in jobRecords { failed += Int(try perform(ReadJobRecord(job: id))["failed"] ?? "0") ?? 0 }
        let refused = try events("refused").count
        let campaigns = try campaigns()
        for (kind, count) in [
            ("job.accepted", jobRecords.count - campaigns.count), ("campaign.finished", campaigns.count),
            ("campaign.started", campaigns.count), ("job.finished", jobRecords.count),
            ("push.failed", failed),
            ("job.refused", refused),
        ] where kinds[kind, default: 0] != count {
            throw SimulationFault.count("\(kinds[kind, default: 0]) events \(kind) of \(count)")
        }
    }

    private func events(_ stream: String) throws -> [[String: String]] {
        let entries = try redis.run("XRANGE", "{pushfarm:demo}:\(stream)", "-", "+").array ?? []
        return entries.map { entry in
            let words = (entry.array?.last?.array ?? []).map {
                String(decoding: $0.bytes ?? [], as: UTF8.self)
            }
            var fields: [String: String] = [:]
            for index in stride(from: 0, to: words.count - 1, by: 2) {
                fields[words[index]] = words[index + 1]
            }
            return fields
        }
    }

    /// Checks that no keys remain that would grow with the number of jobs.
    private func checkRest() throws {
        let left = try redis.run("KEYS", "*").array?.compactMap(\.text) ?? []
        let known = [
            "events", "refused", "jobs", "owners", "intake", "load", "results", "admission", "paused_jobs",
            "suppression", "scopes", "guard", "dead_letters", "dead_letter_counts", "cancels",
            "paused_tokens", "refusals", "campaigns", "campaign_ids", "done_inputs",
        ]
        let many = [
            "{pushfarm:demo}:job:", "{pushfarm:demo}:suppressed:", "{pushfarm:demo}:sent:",
            "{pushfarm:demo}:campaign:", "{pushfarm:demo}:done:", "{pushfarm:demo}:caps:",
            "{pushfarm:demo:r00}:", "test:",
        ]
        for key in left where !many.contains(where: key.hasPrefix) {
            guard known.contains(where: { key == "{pushfarm:demo}:\($0)" }) else {
                throw SimulationFault.count("\(key) is left")
            }
        }
        let pending = try redis.run("XPENDING", "{pushfarm:demo}:results", "settlement").array?.first?.integer
        guard pending == 0 else { throw SimulationFault.count("\(pending ?? -1) entries are pending") }
        // A mark may remain for a job that an operator paused and that a restored Redis then forgot.
        let isPaused = try (pauses(.jobs) + pauses(.cancels)).contains { mark in
            !jobs.contains { $0.id == mark.text && $0.mayBeLost }
        }
        guard !isPaused else { throw SimulationFault.count("jobs are still paused") }
    }
}

extension SimulatedGateway {
    /// The number of duplicate 200 responses, and the number of all 200 responses that Redis has forgotten.
    fileprivate var duplicates: (all: Int, forgotten: Int) {
        accepted.values.reduce((0, 0)) { sum, list in
            (sum.0 + list.count - 1, sum.1 + list.count { $0.isForgotten })
        }
    }
}

extension ReadDepths.Reply {
    /// Whether only quarantined batches remain.
    fileprivate var isEmpty: Bool {
        inbox + taken + delayed + results == 0 && shards.allSatisfy { $0.high + $0.bulk + $0.flight == 0 }
    }
}
