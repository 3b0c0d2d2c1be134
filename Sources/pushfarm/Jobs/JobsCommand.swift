import ArgumentParser
import EventLoop
import StoreProtocol

struct JobsCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs",
        abstract: "Lists the latest jobs.",
        discussion: """
            Example:
              pushfarm jobs --app demo --limit 20
              pushfarm jobs --open --json
              pushfarm jobs --running
              pushfarm jobs --stuck

            With --running, the command lists unfinished jobs, the oldest first, with their
            rate, the remaining time, and why pushes are delayed: by the field "deliver_at"
            or by a retry. With --stuck, the command lists two kinds of jobs: jobs that are
            neither paused nor delayed but have made no progress for five minutes, and jobs
            whose batches are queued on a quiet host. The exit status is 1 when --stuck
            lists a job.
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Option(help: ArgumentHelp("Only this app's jobs.", valueName: "name"), completion: .apps)
    var app: String?

    @Option(reads: ArgumentHelp("The largest number of jobs to list.", valueName: "n"))
    var limit = 20

    @Flag(help: "Only unfinished jobs.")
    var open = false

    @Flag(help: "Only unfinished jobs, with their rate. The command reads the counts twice.")
    var running = false

    @Flag(help: "Only unfinished jobs without progress.")
    var stuck = false

    @Option(reads: ArgumentHelp("Time between the two readings.", valueName: "duration"))
    var over = DurationOption(seconds: 1)

    func validate() throws {
        try over.check("--over", 0.1...3600)
        guard (1...10_000).contains(limit) else { throw ValidationError("--limit must be from 1 to 10000.") }
    }

    func run(_ client: FarmClient, _ console: Console) async throws {
        let apps = try await client.apps(selectedBy: app)
        if running || stuck { return try await showRunning(apps, client, console) }
        var jobRecords: [JobRecord] = []
        for app in apps {
            jobRecords +=
                try await open
                ? client.openJobs(of: app, atMost: limit) : client.latestJobs(of: app, atMost: limit)
        }
        jobRecords.sort { ($1.createdAt, $0.id) < ($0.createdAt, $1.id) }
        jobRecords = Array(jobRecords.prefix(limit))
        let now = try await client.clock().clampedMilliseconds
        console.show(
            .object(["jobs": .array(jobRecords.map(\.json))]),
            Self.text(jobRecords, at: now, console.style))
    }

    @Loop private func showRunning(
        _ apps: [String], _ client: FarmClient, _ console: Console
    ) async throws {
        let start = try await client.clock().components.seconds * 1000
        let running = RunningJobs(client: client, limit: stuck ? nil : limit)
        var (jobs, others) = try await running.read(apps, over: over.duration)
        if stuck { jobs = jobs.filter { $0.isStuck(at: start) } }
        let now = try await client.clock().clampedMilliseconds
        let rest =
            others > 0 ? "and \(Figures.counted(others, "job", "jobs")) more that are open (--limit)\n" : ""
        console.show(
            .object(["jobs": .array(jobs.map(\.json)), "others": .number(others)]),
            Self.text(running: jobs, stuck: stuck, at: now, console.style) + rest
        )
        if stuck, !jobs.isEmpty { throw CommandFailure.failed() }
    }

    /// - Parameter now: Unix milliseconds of Redis's clock.
    static func text(_ jobRecords: [JobRecord], at now: Int64, _ style: TextStyle) -> String {
        guard !jobRecords.isEmpty else { return "no jobs\n" }
        var table = Table([
            "JOB": .left, "APP": .left, "STATE": .left, "AGE": .right, "ACCEPTED": .right, "FAILED": .right,
            "OPEN": .right,
        ])
        for jobRecord in jobRecords {
            table.add(
                .init(jobRecord.id), .init(jobRecord.app),
                jobRecord.pausedReason == nil
                    ? .init(jobRecord.state.rawValue, jobRecord.state == .open ? .yellow : nil)
                    : .init("paused", .red),
                .init(Figures.brief(.milliseconds(max(0, now - jobRecord.createdAt)))),
                .init(Figures.short(jobRecord.accepted)),
                .init(Figures.short(jobRecord.failed), jobRecord.failed > 0 ? .red : nil),
                .init(Figures.short(jobRecord.accepted - jobRecord.settled)))
        }
        return table.text(style)
    }

    /// The table of the jobs, followed by a line for each job whose pushes are delayed.
    static func text(
        running jobs: [RunningJobs.Job], stuck: Bool, at now: Int64, _ style: TextStyle
    ) -> String {
        guard !jobs.isEmpty else { return stuck ? "no job is stuck\n" : "no job is running\n" }
        var table = Table([
            "JOB": .left, "APP": .left, "STATE": .left, "DONE": .right, "OPEN": .right, "DELAYED": .right,
            "RATE": .right, "LEFT": .right,
        ])
        for job in jobs {
            let jobRecord = job.jobRecord
            let share = jobRecord.accepted > 0 ? jobRecord.settled * 100 / jobRecord.accepted : 100
            table.add(
                .init(jobRecord.id), .init(jobRecord.app), job.state, .init("\(share) %"),
                .init(Figures.short(jobRecord.accepted - jobRecord.settled)),
                .init(Figures.short(jobRecord.delayed)),
                .init("\(Figures.short(Int(clamping: job.rate.rounded())))/s"),
                .init(jobRecord.isAllDelayed ? "-" : job.remaining.map { Figures.brief($0) } ?? "-"))
        }
        let delays = jobs.compactMap { job in
            job.delay.map { "\(PlainText.of(job.jobRecord.id)): \($0.text(at: now))\n" }
        }
        return table.text(style) + delays.joined()
    }
}

extension RunningJobs.Job {
    fileprivate var state: Table.Cell {
        if jobRecord.pausedReason != nil { return .init("paused", .red) }
        if isPaused { return .init("paused", .yellow) }
        if isQuiet, rate == 0 { return .init("quiet host", .red) }
        return jobRecord.isAllDelayed ? .init("delayed", .yellow) : .init("running")
    }
}
