import EventLoop
import StoreProtocol

/// Checks the accounting of one app, and repairs it.
///
/// Records of finished jobs are many, and each is right or wrong by itself: they are read a page at a time. Only the others
/// are compared with the queues.
@Loop struct AppCheck {
    let app: String
    let shards: Int
    let client: FarmClient

    /// As many batches and job records may be looked at in one moment.
    private static let wholeLimit = 1000
    /// Parts are looked at so often until what does not add up is looked at in one moment.
    private static let looks = 3
    /// Repairs may uncover what was hidden behind a fault.
    private static let rounds = 5

    /// What does not add up, or only seems so because the farm went on meanwhile.
    private struct Doubts {
        var jobs: Set<String> = []
        var batches: Set<String> = []
        /// A list has a fault by itself.
        var isCertain = false

        var isEmpty: Bool { jobs.isEmpty && batches.isEmpty && !isCertain }
    }

    /// Faults in words; empty when the accounting is exact.
    func faults() async throws(CommandFailure) -> [String] {
        let wrong = try await wrongTypes()
        return wrong.isEmpty ? try await faults(unsettled()) : wrong
    }

    /// Originals that are kept because they cannot be read.
    func kept() async throws(CommandFailure) -> Int {
        try await client.call(ReadFaults(shards: shards), app).unreadable
    }

    func dropKept() async throws(CommandFailure) { try await client.call(DropUnreadable(), app) }

    /// Nothing can be checked, nor repaired, while a key does not hold what it must.
    private func wrongTypes() async throws(CommandFailure) -> [String] {
        try await client.call(ReadFaults(shards: shards), app).wrongTypes.map { "key \($0.text)" }
    }

    /// Repairs what it finds.
    ///
    /// - Returns: what was done.
    func repair() async throws(CommandFailure) -> [String] {
        var done: [String] = []
        guard try await wrongTypes().isEmpty else { return [] }
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

    /// The batch that a fault is about; its id has no spaces.
    private static func batch(_ fault: String) -> String? {
        let words = fault.split(separator: " ", maxSplits: 2)
        return words.count > 1 && words[0] == "batch" ? String(words[1]) : nil
    }

    /// The job that a fault is about; its id may have spaces. A job that is in a queue need not be known.
    private static func job(_ fault: String, among jobs: Set<String>) -> String? {
        guard fault.hasPrefix("job ") else { return nil }
        let rest = fault.dropFirst(4)
        return rest.indices.lazy.filter { rest[$0] == " " }.map { String(rest[..<$0]) }.first(
            where: jobs.contains)
    }

    /// At least one page, which may be empty.
    private static func pages(_ jobs: Set<String>) -> [[String]] {
        let all = jobs.sorted()
        return stride(from: 0, to: max(all.count, 1), by: wholeLimit).map {
            Array(all[$0..<min($0 + wholeLimit, all.count)])
        }
    }

    /// Jobs whose job records have to be held against the queues.
    private func unsettled() async throws(CommandFailure) -> Set<String> {
        try await all { ScanJobRecords(shards: shards, cursor: $0) }
    }

    /// What a scan finds, page by page.
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
            let doubts = try await doubts(unsettled)
            if doubts.isEmpty { return [] }
            jobs = doubts.jobs
        }
        var faults: [String] = []
        for page in Self.pages(jobs) {
            let found = try await client.call(CheckAccounting(shards: shards, jobs: page), app)
            faults += found.filter { !faults.contains($0) }
        }
        return faults
    }

    // MARK: In parts

    /// Looks at one shard after the other, so that Redis is never held up for long; and again, because the farm keeps running.
    private func doubts(_ unsettled: Set<String>) async throws(CommandFailure) -> Doubts {
        var doubts = try await check(unsettled, isFirst: true)
        for _ in 1..<Self.looks where !doubts.isEmpty && !doubts.isCertain {
            let next = try await check(doubts.jobs, isFirst: false)
            doubts.jobs.formIntersection(next.jobs)
            doubts.batches.formIntersection(next.batches)
            doubts.isCertain = next.isCertain
        }
        return doubts
    }

    /// - Parameter isFirst: the job records of all jobs that are in queues are looked at, too.
    private func check(_ jobs: Set<String>, isFirst: Bool) async throws(CommandFailure) -> Doubts {
        var doubts = Doubts(batches: try await all { ScanBatches(cursor: $0) })
        var sums: [String: CheckAccountingPart.Sums] = [:]
        for shard in (0..<shards).map(Optional.some) + [nil] {
            let part = try await client.call(CheckAccountingPart(shards: shards, shard: shard), app)
            if !part.faults.isEmpty { doubts.isCertain = true }
            for (job, some) in part.jobs { sums[job, default: .init()] += some }
            doubts.batches.subtract(part.batches)
        }
        for job in isFirst ? jobs.union(sums.keys) : jobs {
            let sum = sums[job] ?? .init()
            let reader = AppStatusReader(app: app, client: client, hasFaults: true)
            let jobRecord = JobRecord(id: job, app: app, fields: try await reader.readRecord(of: job))
            if !(jobRecord.map { addsUp($0, sum) } ?? (sum.open == 0)) { doubts.jobs.insert(job) }
        }
        return doubts
    }

    private func addsUp(_ jobRecord: JobRecord, _ sums: CheckAccountingPart.Sums) -> Bool {
        jobRecord.settled + sums.open == jobRecord.accepted && jobRecord.inFlight == sums.inFlight
            && jobRecord.delayed == sums.delayed && (jobRecord.state == .finished) == (sums.open == 0)
            && jobRecord.reasons.values.reduce(0, +) <= jobRecord.failed
    }
}
