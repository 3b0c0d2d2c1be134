import ArgumentParser
import EventLoop
import FarmLogging
import StoreProtocol

struct JobsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs",
        abstract: "Lists the latest jobs.",
        discussion: """
            Example:
              pushfarm jobs --app demo --limit 20
              pushfarm jobs --open --json
              pushfarm jobs --running
              pushfarm jobs --stuck

            --running lists jobs that are not finished, the oldest first, with their rate,
            the remaining time, and why pushes are delayed: their time or a retry.
            --stuck lists jobs without progress for five minutes that are not paused or
            delayed, and jobs that wait for a quiet host. Status 1 when there are any.
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Option(help: ArgumentHelp("Only this app's jobs.", valueName: "name"), completion: .apps)
    var app: String?

    @Option(reads: ArgumentHelp("So many jobs at most.", valueName: "n"))
    var limit = 20

    @Flag(help: "Only jobs that are not finished.")
    var open = false

    @Flag(help: "Only jobs that are not finished, with their rate: looks twice.")
    var running = false

    @Flag(help: "Only running jobs in which nothing happens.")
    var stuck = false

    @Option(reads: ArgumentHelp("Between the two looks.", valueName: "duration"))
    var over = TimeSpan(seconds: 1)

    func validate() throws {
        try over.check("--over", 0.1...3600)
        guard (1...10_000).contains(limit) else { throw ValidationError("--limit is 1 to 10000.") }
    }

    func run() throws {
        if running || stuck { return try showRunning() }
        let (app, limit, open) = (app, limit, open)
        let (jobRecords, now) = try common.withClient { client in
            var jobRecords: [JobRecord] = []
            for name in try await client.apps(meant: app) {
                jobRecords += try await Self.latest(limit, of: name, open: open, client)
            }
            let now = try await client.clock().clampedMilliseconds
            let sorted = jobRecords.sorted { ($1.createdAt, $0.id) < ($0.createdAt, $1.id) }
            return (Array(sorted.prefix(limit)), now)
        }
        let console = Console(json: common.json)
        console.show(
            .object(["jobs": .array(jobRecords.map(\.json))]),
            JobsText(now: now, style: console.style).list(jobRecords))
    }

    /// The latest jobs of an app, or the latest of those that are open.
    @Loop private static func latest(
        _ limit: Int, of app: String, open: Bool, _ client: FarmClient
    ) async throws(CommandFailure) -> [JobRecord] {
        var jobRecords: [JobRecord] = []
        var start = 0
        while jobRecords.count < limit, start < RunningJobs.latest {
            let ids = try await client.call(LatestJobs(from: start, count: open ? 500 : limit), app)
            for id in ids where jobRecords.count < limit {
                guard let jobRecord = try await client.jobRecord(id, app) else { continue }
                if !open || jobRecord.state == .open { jobRecords.append(jobRecord) }
            }
            guard open, !ids.isEmpty else { break }
            start += ids.count
        }
        return jobRecords
    }

    private func showRunning() throws {
        let (app, limit, isStuck, pause) = (app, limit, stuck, over.duration)
        let (jobs, others, now) = try common.withClient { client in
            let names = try await client.apps(meant: app)
            let now = try await client.clock().components.seconds * 1000
            let running = RunningJobs(client: client, limit: isStuck ? nil : limit)
            let (jobs, others) = try await running.read(names, over: pause)
            let end = try await client.clock().clampedMilliseconds
            return (jobs.filter { !isStuck || $0.isStuck(at: now) }, others, end)
        }
        let console = Console(json: common.json)
        let rest =
            others > 0 ? "and \(Figures.counted(others, "job", "jobs")) more that are open (--limit)\n" : ""
        console.show(
            .object(["jobs": .array(jobs.map(\.json)), "others": .number(others)]),
            JobsText(now: now, style: console.style).running(jobs, stuck: stuck) + rest
        )
        if stuck, !jobs.isEmpty { throw CommandFailure.failed() }
    }
}
