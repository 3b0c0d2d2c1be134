import EventLoop
import RedisClient
import StoreProtocol

/// Checks the accounting, the campaigns and the registry of one app, and repairs accounting and registry.
///
/// An app may have many records of finished jobs. The check reads them page by page, because it can check each of them
/// without other data. The check compares only the records of unfinished jobs with the queues.
@Loop struct AppCheck {
    let app: String
    let shards: Int
    let client: FarmClient

    /// The most batches and job records to read in one atomic step.
    private static let wholeLimit = 1000
    /// How often the check reads in parts before it reads the suspicious jobs in one atomic step.
    private static let passes = 3
    /// The most repair passes. A repair may uncover another fault.
    private static let rounds = 5

    /// Jobs whose counts differ from the queues, and batches that are in no queue. A job or batch may be here only
    /// because it changed while the check read it.
    private struct Discrepancies {
        var jobs: Set<String> = []
        var batches: Set<String> = []
        /// Whether one request has proved a fault in a shard, so that the check need not be repeated.
        var isCertain = false

        var isEmpty: Bool { jobs.isEmpty && batches.isEmpty && !isCertain }
    }

    /// The faults as texts, or empty when the accounting is exact.
    func faults() async throws(CommandFailure) -> [String] {
        let wrong = try await wrongTypes()
        let faults = try await wrong.isEmpty ? faults(unsettled()) + campaigns.faults() : wrong
        return try await faults + StoredDeviceCheck(app: app, client: client).faults()
    }

    private var campaigns: CampaignCheck { CampaignCheck(app: app, client: client) }

    /// The number of unreadable reports and job records whose original data Redis keeps.
    func unreadableCount() async throws(CommandFailure) -> Int {
        try await client.call(FindDamage(shards: shards), app).unreadable
    }

    func dropUnreadable() async throws(CommandFailure) { try await client.call(DropUnreadable(), app) }

    /// Keys of the wrong type. With a key of the wrong type, the app can be neither checked nor repaired.
    private func wrongTypes() async throws(CommandFailure) -> [String] {
        try await client.call(FindDamage(shards: shards), app).wrongTypes.map { "key \($0.text)" }
    }

    /// Repairs the faults.
    ///
    /// - Returns: the repairs as texts.
    func repair() async throws(CommandFailure) -> [String] {
        var done = try await StoredDeviceCheck(app: app, client: client).repair()
        guard try await wrongTypes().isEmpty else { return done }
        for _ in 0..<Self.rounds {
            let unsettled = try await unsettled()
            let faults = try await faults(unsettled)
            if faults.isEmpty { break }
            for id in Set(faults.compactMap(Self.batch)).sorted() { done += try await repair(.batch(id)) }
            let jobs = Set(faults.compactMap { Self.job($0, among: unsettled) })
            for page in Self.pages(jobs) { done += try await repair(.jobRecords(page)) }
        }
        return done
    }

    private func repair(_ target: Repair.Target) async throws(CommandFailure) -> [String] {
        let life = Int(client.configuration.jobRecordLife.components.seconds)
        return try await client.call(Repair(target, shards: shards, jobRecordSeconds: life), app)
    }

    /// The batch that a fault names. A batch id has no spaces.
    private static func batch(_ fault: String) -> String? {
        let words = fault.split(separator: " ", maxSplits: 2)
        return words.count > 1 && words[0] == "batch" ? String(words[1]) : nil
    }

    /// The job that a fault names; nil if `jobs` does not contain the job. A job id may have spaces, so the function
    /// tries every possible end of the id.
    private static func job(_ fault: String, among jobs: Set<String>) -> String? {
        guard fault.hasPrefix("job ") else { return nil }
        let rest = fault.dropFirst(4)
        return rest.indices.lazy.filter { rest[$0] == " " }.map { String(rest[..<$0]) }.first(
            where: jobs.contains)
    }

    /// The jobs in pages. Without jobs, the result is one empty page, so that the queues are still checked.
    private static func pages(_ jobs: Set<String>) -> [[String]] {
        let all = jobs.sorted()
        return stride(from: 0, to: max(all.count, 1), by: wholeLimit).map {
            Array(all[$0..<min($0 + wholeLimit, all.count)])
        }
    }

    /// The jobs whose records must be compared with the queues.
    private func unsettled() async throws(CommandFailure) -> Set<String> {
        try await all { ScanJobRecords(shards: shards, cursor: $0) }
    }

    /// All results of a scan, which is read page by page.
    private func all<Scan: Request>(
        from scan: (_ cursor: String) -> Scan
    ) async throws(CommandFailure) -> Set<String> where Scan.Reply == ScanPage<String> {
        var items: Set<String> = []
        var cursor: String? = "0"
        while let start = cursor {
            let page = try await client.call(scan(start), app)
            items.formUnion(page.items)
            cursor = page.next
        }
        return items
    }

    private func faults(_ unsettled: Set<String>) async throws(CommandFailure) -> [String] {
        let depths = try await client.call(ReadDepths(shards: shards), app)
        let batches = depths.shards.reduce(depths.delayed + depths.paused) {
            $0 + $1.high + $1.bulk + $1.flight
        }
        var jobs = unsettled
        if batches + depths.results + jobs.count > Self.wholeLimit {
            let discrepancies = try await discrepancies(unsettled)
            if discrepancies.isEmpty { return [] }
            jobs = discrepancies.jobs
        }
        var faults: [String] = []
        for page in Self.pages(jobs) {
            let found = try await client.call(CheckAccounting(shards: shards, jobs: page), app)
            faults += found.filter { !faults.contains($0) }
        }
        return faults
    }

    // MARK: Checks in parts

    /// Checks one shard after the other, so that no request blocks Redis for long. Because the farm keeps running, the
    /// function repeats the check and returns only discrepancies that every pass has found.
    private func discrepancies(_ unsettled: Set<String>) async throws(CommandFailure) -> Discrepancies {
        var discrepancies = try await check(unsettled, isFirst: true)
        for _ in 1..<Self.passes where !discrepancies.isEmpty && !discrepancies.isCertain {
            let next = try await check(discrepancies.jobs, isFirst: false)
            discrepancies.jobs.formIntersection(next.jobs)
            discrepancies.batches.formIntersection(next.batches)
            discrepancies.isCertain = next.isCertain
        }
        return discrepancies
    }

    /// - Parameter isFirst: whether to check the records of all jobs in queues, and not only `jobs`.
    private func check(_ jobs: Set<String>, isFirst: Bool) async throws(CommandFailure) -> Discrepancies {
        var discrepancies = Discrepancies(batches: try await all { ScanBatches(cursor: $0) })
        var sums: [String: CheckAccountingPart.Sums] = [:]
        for shard in (0..<shards).map(Optional.some) + [nil] {
            let part = try await client.call(CheckAccountingPart(shards: shards, shard: shard), app)
            if !part.faults.isEmpty { discrepancies.isCertain = true }
            for (job, some) in part.jobs { sums[job, default: .init()] += some }
            discrepancies.batches.subtract(part.batches)
        }
        for job in isFirst ? jobs.union(sums.keys) : jobs {
            let sum = sums[job] ?? .init()
            let reader = AppStatusReader(app: app, client: client, hasFaults: true)
            let jobRecord = JobRecord(id: job, app: app, fields: try await reader.readRecord(of: job))
            if !(jobRecord.map { addsUp($0, sum) } ?? (sum.open == 0)) { discrepancies.jobs.insert(job) }
        }
        return discrepancies
    }

    private func addsUp(_ jobRecord: JobRecord, _ sums: CheckAccountingPart.Sums) -> Bool {
        jobRecord.settled + sums.open == jobRecord.accepted && jobRecord.inFlight == sums.inFlight
            && jobRecord.delayed == sums.delayed && (jobRecord.state == .finished) == (sums.open == 0)
            && jobRecord.reasons.values.reduce(0, +) <= jobRecord.failed
    }
}
