import Testing

@testable import FarmStore

/// Lets everything come to its end, and checks every number.
extension Simulation {
    func finish() throws {
        isQuiet = true
        note("quiet")
        orphans = []
        // One host is left; the leases of the others run out.
        hosts.removeLast(hosts.count - 1)
        hosts[0].stop(for: 0, withWorkers: true)
        for round in 0..<8_000 {
            try step()
            guard round % 50 == 0 else { continue }
            // Redis's clock may have been hours ahead when something was put off.
            clock.advance(600_000_000)
            let depths = try perform(ReadDepths(shards: Self.shards))
            guard depths.isEmpty else { continue }
            if depths.parked == 0 { return try checkBooks() }
            // The cause is mended, and an operator lets them go on.
            if !isCured { try checkParked(depths.parked) }
            isCured = true
            try perform(Release(limit: 1000))
        }
        throw SimulationFault.stuck(try perform(ReadDepths(shards: Self.shards)))
    }

    /// Whether reading a batch of the job crashes the reader.
    func isPoison(_ job: String) -> Bool { !isCured && number(of: job).map { jobs[$0].isPoison } ?? false }

    private func number(of job: String) -> Int? {
        let words = job.split(separator: "-")
        return words.count > 1 ? Int(words[1]) : nil
    }

    private func checkParked(_ parked: Int) throws {
        if !jobs.contains(where: \.isPoison) {
            throw SimulationFault.count("\(parked) batches are parked and no job is poison")
        }
    }

    private func checkBooks() throws {
        var accounts: [Int: [Account]] = [:]
        for id in try perform(LatestJobs(count: 10_000)) {
            guard let account = Account(id: id, app: "demo", fields: try perform(ReadAccount(job: id))),
                let number = number(of: id)
            else { throw SimulationFault.count("no account of \(id)") }
            accounts[number, default: []].append(account)
        }
        var suspected = 0
        for job in jobs {
            let mine = accounts[job.number] ?? []
            if mine.isEmpty, job.mayBeLost { continue }
            guard mine.count == 1 else {
                throw SimulationFault.count("job \(job.number) has \(mine.count) accounts: \(mine)")
            }
            try check(mine[0], of: job)
            suspected += mine[0].maybeDuplicated
        }
        let duplicates = gateway.accepted.values.reduce(0) { $0 + max(0, $1 - 1) }
        guard duplicates <= suspected || profile.losesCounts else {
            throw SimulationFault.count("\(duplicates) duplicates, \(suspected) counted")
        }
        try checkEvents()
    }

    private func check(_ account: Account, of job: SimulatedJob) throws {
        func check(_ holds: Bool, _ what: String) throws {
            guard holds else { throw SimulationFault.count("job \(job.number) \(what): \(account)") }
        }
        try check(account.state == .finished && account.queued == 0, "is not finished")
        try check(account.inFlight == 0 && account.waiting == 0, "has something open")
        let ended = account.delivered + account.failed + account.expired
        try check(ended == job.tokens.count, "does not add up to \(job.tokens.count)")
        let healthy = job.tokens.filter { !gateway.poison.contains($0) }
        let fates = healthy.map(SimulatedGateway.fate)
        let poison = job.tokens.count - healthy.count
        try check(account.reasons["poison", default: 0] <= poison, "fails healthy pushes as poison")
        if job.delivery == .atLeastOnce {
            try check(account.reasons["unknown"] == nil, "has unknown outcomes")
            try check(account.reasons["poison", default: 0] == poison, "has \(poison) poison tokens")
            try check(account.delivered == fates.count { $0 == .delivered }, "delivered")
            try check(account.failed == poison + fates.count { $0 == .failed }, "failed")
            try check(account.expired == fates.count { $0 == .expired }, "expired")
        } else if !profile.losesCounts {
            try check(account.maybeDuplicated == 0, "was sent again")
            let most = job.tokens.map { gateway.accepted[$0, default: 0] }.max() ?? 0
            try check(most <= 1, "was sent more than once")
        }
        let sent = job.tokens.count { gateway.accepted[$0, default: 0] > 0 }
        try check(account.delivered <= sent, "claims more than the \(sent) that were sent")
        try check(account.reasons.values.reduce(0, +) == account.failed, "has other reasons")
    }

    /// Each event is there once: what producers rely on. After a roll-back some may be missing with their jobs.
    private func checkEvents() throws {
        let entries = try redis.run("XRANGE", "{pushfarm:demo}:events", "-", "+").array ?? []
        var seen: [String: Int] = [:]
        var kinds: [String: Int] = [:]
        for entry in entries {
            let words = (entry.array?.last?.array ?? []).map {
                String(decoding: $0.bytes ?? [], as: UTF8.self)
            }
            var fields: [String: String] = [:]
            for index in stride(from: 0, to: words.count - 1, by: 2) {
                fields[words[index]] = words[index + 1]
            }
            let kind = fields["type"] ?? ""
            kinds[kind, default: 0] += 1
            guard kind != "job.refused" else { continue }
            seen["\(kind) \(fields["job"] ?? "") \(fields["token"] ?? "")", default: 0] += 1
        }
        if let twice = seen.first(where: { $0.value > 1 }) {
            throw SimulationFault.count("\(twice.value) times: \(twice.key)")
        }
        let accounts = try perform(LatestJobs(count: 10_000))
        var failed = 0
        for id in accounts { failed += Int(try perform(ReadAccount(job: id))["failed"] ?? "0") ?? 0 }
        let refused = try redis.run("XLEN", "{pushfarm:demo}:refused").integer ?? 0
        for (kind, count) in [
            ("job.accepted", accounts.count), ("job.finished", accounts.count), ("push.failed", failed),
            ("job.refused", Int(refused)),
        ] where kinds[kind, default: 0] != count {
            throw SimulationFault.count("\(kinds[kind, default: 0]) events \(kind) of \(count)")
        }
    }
}

extension ReadDepths.Reply {
    /// Nothing is left but what is parked.
    fileprivate var isEmpty: Bool {
        inbox + taken + delayed + results == 0 && shards.allSatisfy { $0.high + $0.bulk + $0.flight == 0 }
    }
}
