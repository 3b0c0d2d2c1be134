import EventLoop
import StoreProtocol

/// Reads the unfinished jobs twice, to show how fast each job progresses.
struct RunningJobs: Sendable {
    struct Job: Sendable {
        let jobRecord: JobRecord
        /// How many pushes per second got an outcome between the two readings.
        let rate: Double
        let isPaused: Bool
        /// Whether batches of the app are queued in shards of a host that takes no new work.
        var isQuiet = false
        /// Why the job has delayed pushes; nil if it has none, or if the reason was not found.
        var delay: JobDelay?

        /// How long the pushes that are not delayed will take at the present rate; nil if the rate is 0.
        var remaining: Duration? {
            let due = jobRecord.accepted - jobRecord.settled - jobRecord.delayed
            guard due > 0 else { return .zero }
            return rate > 0 ? .milliseconds(Int64(clamping: (Double(due) / rate * 1000).rounded(.up))) : nil
        }

        /// When a push of the job last got an outcome; before the first outcome, when the job was created.
        var lastActivity: Int64 { max(jobRecord.createdAt, jobRecord.lastOutcomeAt) }

        /// - Parameter now: the present time in Unix milliseconds.
        func isStuck(at now: Int64) -> Bool {
            !jobRecord.isAllDelayed && jobRecord.pausedReason == nil && !isPaused && rate == 0
                && (isQuiet || now - lastActivity > RunningJobs.stuckAfter)
        }

        var json: JSONValue {
            jobRecord.json.adding([
                "rate": .decimal((rate * 10).rounded() / 10),
                "remaining_ms": .whole(remaining?.clampedMilliseconds),
                "last_activity": .number(lastActivity), "delayed_until": delay?.json ?? .null,
            ])
        }
    }

    /// After how many milliseconds without progress a job counts as stuck.
    static let stuckAfter: Int64 = 300_000
    /// How many open jobs of an app are read at most, if the command shows only some jobs.
    private static let mostOpen = 1_000

    let client: FarmClient
    /// The most jobs to show, or nil for all.
    let limit: Int?

    /// - Returns: the jobs to show, and the number of further jobs. Jobs whose open pushes are all delayed come last.
    ///   Otherwise, older jobs come before newer jobs.
    @Loop func read(
        _ apps: [String], over pause: Duration
    ) async throws(CommandFailure) -> (jobs: [Job], others: Int) {
        var open: [(jobRecord: JobRecord, at: ContinuousClock.Instant)] = []
        for app in apps {
            let found = try await client.openJobs(of: app, atMost: limit == nil ? .max : Self.mostOpen)
            open += found.map { ($0, .now) }
        }
        open.sort {
            ($0.jobRecord.isAllDelayed ? 1 : 0, $0.jobRecord.createdAt) < (
                $1.jobRecord.isAllDelayed ? 1 : 0, $1.jobRecord.createdAt
            )
        }
        let first = open.prefix(limit ?? open.count)
        let others = open.count - first.count
        do { try await Loop.sleep(for: pause) } catch {}
        var jobs: [Job] = []
        var (paused, quiet): ([String: Bool], [String: Bool]) = ([:], [:])
        let still = Set(try await client.hosts().filter(\.servesNothing).map(\.host))
        for (before, at) in first {
            let app = before.app
            if paused[app] == nil {
                paused[app] = try await client.call(ReadAppState(), app).pause != nil
                quiet[app] = try await hasWork(app, in: still)
            }
            guard let jobRecord = try await client.jobRecord(before.id, app), jobRecord.state == .open else {
                continue
            }
            let time = (ContinuousClock.now - at) / .seconds(1)
            jobs.append(
                Job(
                    jobRecord: jobRecord, rate: Double(max(0, jobRecord.settled - before.settled)) / time,
                    isPaused: paused[app] == true, isQuiet: quiet[app] == true))
        }
        for app in apps {
            let waiting = Set(
                jobs.filter { $0.jobRecord.app == app && $0.jobRecord.delayed > 0 }.map(\.jobRecord.id))
            guard !waiting.isEmpty else { continue }
            let delays = try await client.delays(of: waiting, app)
            for index in jobs.indices where jobs[index].jobRecord.app == app {
                jobs[index].delay = delays[jobs[index].jobRecord.id]
            }
        }
        return (jobs, others)
    }

    /// Whether batches of the app are queued in shards of these hosts.
    @Loop private func hasWork(_ app: String, in hosts: Set<String>) async throws(CommandFailure) -> Bool {
        guard !hosts.isEmpty else { return false }
        let owners = try await client.call(ReadOwners(), app).leases
        let depths = try await client.call(ReadDepths(shards: client.shards()), app).shards
        return depths.enumerated().contains { shard, depth in
            depth.high + depth.bulk > 0 && owners[.shard(shard)].map { hosts.contains($0.host) } ?? false
        }
    }
}

extension FarmClient {
    /// How many of an app's latest jobs are searched for open jobs.
    private static let latestJobs = 100_000

    /// The latest jobs of an app, the newest first.
    func latestJobs(of app: String, atMost limit: Int) async throws(CommandFailure) -> [JobRecord] {
        try await jobRecords(try await call(LatestJobs(from: 0, count: limit), app), app)
    }

    /// The latest open jobs of an app, the newest first.
    func openJobs(of app: String, atMost limit: Int) async throws(CommandFailure) -> [JobRecord] {
        var found: [JobRecord] = []
        var start = 0
        while found.count < limit, start < Self.latestJobs {
            let ids = try await call(LatestJobs(from: start, count: 500), app)
            if ids.isEmpty { break }
            found += try await jobRecords(ids, app).filter { $0.state == .open }
            start += ids.count
        }
        return found
    }

    private func jobRecords(_ ids: [String], _ app: String) async throws(CommandFailure) -> [JobRecord] {
        var found: [JobRecord] = []
        for id in ids { if let jobRecord = try await jobRecord(id, app) { found.append(jobRecord) } }
        return found
    }
}

extension JobRecord {
    /// Whether all open pushes of the job are delayed.
    var isAllDelayed: Bool { delayed == accepted - settled }
}
