import EventLoop
import FarmStore

/// Checks the books of one app, and repairs them.
@Loop struct AppCheck {
    let app: String
    let shards: Int
    let client: FarmClient

    /// With fewer batches one look at the whole app is short enough.
    private static let wholeLimit = 1000
    private static let page = 1000
    /// Repairs may uncover what was hidden behind a fault.
    private static let rounds = 5

    /// Faults in words; empty when the books are exact.
    func faults() async throws(CommandFailure) -> [String] {
        let depths = try await client.call(ReadDepths(shards: shards), app)
        let batches = depths.shards.reduce(depths.delayed + depths.parked) {
            $0 + $1.high + $1.bulk + $1.flight
        }
        if batches > Self.wholeLimit, try await addsUpInParts() { return [] }
        return try await client.call(Audit(shards: shards), app)
    }

    /// Repairs what it finds.
    ///
    /// - Returns: what was done.
    func repair() async throws(CommandFailure) -> [String] {
        var done: [String] = []
        for _ in 0..<Self.rounds {
            let faults = try await client.call(Audit(shards: shards), app)
            if faults.isEmpty { break }
            for id in Set(faults.compactMap(Self.batch)).sorted() { done += try await mend(.batch(id)) }
            done += try await mend(.accounts)
        }
        return done
    }

    private func mend(_ target: Mend.Target) async throws(CommandFailure) -> [String] {
        let life = Int(client.configuration.accountLife.components.seconds)
        return try await client.call(Mend(target, shards: shards, accountSeconds: life), app)
    }

    /// The batch that a fault is about; its id has no spaces.
    private static func batch(_ fault: String) -> String? {
        let words = fault.split(separator: " ", maxSplits: 2)
        return words.count > 1 && words[0] == "batch" ? String(words[1]) : nil
    }

    /// Looks at one shard after the other, so that Redis is never held up for long.
    ///
    /// - Returns: false when something is wrong, or only seems so because the farm went on meanwhile.
    private func addsUpInParts() async throws(CommandFailure) -> Bool {
        var stray = try await allBatches()
        var jobs: [String: AuditPart.Sums] = [:]
        for shard in (0..<shards).map(Optional.some) + [nil] {
            let part = try await client.call(AuditPart(shards: shards, shard: shard), app)
            guard part.faults.isEmpty else { return false }
            for (job, sums) in part.jobs { jobs[job, default: .init()] += sums }
            stray.subtract(part.batches)
        }
        guard stray.isEmpty else { return false }
        var start = 0
        while true {
            let page = try await client.call(ListJobs(start..<start + Self.page), app)
            for job in page {
                guard let account = try await client.account(job, app) else { continue }
                guard addsUp(account, jobs.removeValue(forKey: job) ?? .init()) else { return false }
            }
            if page.count < Self.page { return jobs.isEmpty }
            start += Self.page
        }
    }

    private func addsUp(_ account: Account, _ sums: AuditPart.Sums) -> Bool {
        account.settled + sums.open == account.accepted && account.inFlight == sums.inFlight
            && account.waiting == sums.waiting && (account.state == .finished) == (sums.open == 0)
    }

    private func allBatches() async throws(CommandFailure) -> Set<String> {
        var batches: Set<String> = []
        var cursor: String? = "0"
        while let start = cursor {
            let reply = try await client.call(ScanBatches(cursor: start), app)
            batches.formUnion(reply.batches)
            cursor = reply.next
        }
        return batches
    }
}
