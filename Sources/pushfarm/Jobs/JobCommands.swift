import ArgumentParser
import EventLoop
import StoreProtocol

struct JobCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "job",
        abstract: "Shows the record of one job.",
        discussion: """
            Example:
              pushfarm job order-4711 --wait --json

            For an open job, the command shows why pushes are delayed: by a pause, by the
            job's field "deliver_at", or by a retry with its cause. The exit status is 1
            when the job does not exist, or when it is finished and at least one push was
            not delivered.
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @OptionGroup var choice: JobChoice

    @Flag(
        name: [.long, .customLong("watch")],
        help: "Waits until the job is finished, and shows the progress in a terminal.")
    var wait = false

    func run(_ client: FarmClient, _ console: Console) async throws {
        let (id, app) = (choice.job, choice.app)
        let apps = if let app { [app] } else { try await client.apps() }
        let found = try await client.jobRecords(ofJob: id, in: apps)
        guard found.count < 2 else { throw CommandFailure.several(found) }
        guard let appToWaitFor = found.first?.app ?? app, wait, found.first?.state != .finished else {
            guard let jobRecord = found.first else { throw try await client.noJob(id, in: apps) }
            let delays = try await client.delays(of: jobRecord)
            return try JobReport(jobRecords: found, console: console, delays: delays).show()
        }
        let poller = JobRecordPoller(client: client, title: "delivering", quiet: console.json)
        let jobRecords = try await poller.wait([id], appToWaitFor)
        try JobReport(jobRecords: jobRecords, console: console).show()
    }
}

struct PromoteCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "promote",
        abstract: "Sends a job's delayed pushes now.",
        discussion: """
            Moves the job's pushes that are delayed, by the job's field "deliver_at" or by
            a retry, to the end of their queue. Pushes of other jobs stay delayed.

            Example:
              pushfarm promote campaign-7
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @OptionGroup var choice: JobChoice

    @Flag(help: "Shows what the command would do, and changes nothing.")
    var dryRun = false

    func run(_ client: FarmClient, _ console: Console) async throws {
        let job = choice.job
        let app = try await client.app(ofJob: job, app: choice.app)
        guard let jobRecord = try await client.jobRecord(job, app) else {
            throw CommandFailure.failed(
                "job \(job) is still in the inbox of \(app), and has no delayed pushes yet")
        }
        var pushes = dryRun ? jobRecord.delayed : 0
        if !dryRun {
            var next: Int? = 0
            while let start = next {
                let reply = try await client.call(PromoteJob(job: job, start: start), app)
                pushes += reply.pushes
                next = reply.next
            }
            try await OperatorClient.record(["promote", job, "--app", app], client)
        }
        let verb = dryRun ? "would become due now" : pushes == 1 ? "is due now" : "are due now"
        console.show(
            .object([
                "app": .string(app), "job": .string(job), "pushes": .number(pushes),
                "changed": .bool(pushes > 0), "dry_run": .bool(dryRun),
            ]),
            pushes == 0
                ? "job \(job) of \(app) has no delayed pushes\n"
                : "\(Figures.counted(pushes, "push", "pushes")) of job \(job) of \(app) \(verb)\n")
    }
}

/// The job that a command applies to.
struct JobChoice: ParsableArguments, Sendable {
    @Argument(help: "The job's id.")
    var job: String

    @Option(
        help: ArgumentHelp("The app, if several apps have a job with this id.", valueName: "name"),
        completion: .apps)
    var app: String?
}

/// Waits until jobs are finished.
@Loop struct JobRecordPoller {
    let client: FarmClient
    /// The title of the progress line.
    let title: String
    let quiet: Bool
    /// Whether a refused job is an error. If false, the wait ends without an error when a job was refused.
    var failsOnRefusal = true

    /// - Returns: the records of the jobs, as they were last read. Records are missing if the wait timed out or was
    ///   interrupted. If a job was refused and ``failsOnRefusal`` is false, the result is empty.
    func wait(
        _ ids: [String], _ app: String, atMost limit: Duration? = nil
    ) async throws(CommandFailure) -> [JobRecord] {
        let deadline = limit.map { ContinuousClock.now + $0 }
        var jobRecords: [String: JobRecord] = [:]
        var progress: ProgressLine?
        defer { progress?.finish() }
        var pause = Duration.milliseconds(10)
        while true {
            for id in ids where jobRecords[id]?.state != .finished {
                if let jobRecord = try await client.jobRecord(id, app) {
                    jobRecords[id] = jobRecord
                } else if let reason = try await client.refusal(of: id, app) {
                    guard failsOnRefusal else { return [] }
                    throw .failed("job \(id) was refused: \(reason)")
                }
            }
            let known = ids.compactMap { jobRecords[$0] }
            if known.count == ids.count, known.allSatisfy({ $0.state == .finished }) { return known }
            let total = known.reduce(0) { $0 + $1.accepted }
            if progress == nil, total > 0 { progress = ProgressLine(title, total: total, quiet: quiet) }
            progress?.update(known.reduce(0) { $0 + $1.settled })
            if let deadline, deadline <= .now { return known }
            do { try await Loop.sleep(for: pause) } catch { return known }
            pause = min(pause * 2, .milliseconds(250))
        }
    }
}

extension FarmClient {
    /// The error for an unknown job. If `pushfarm push` has split the job `ID` into the jobs `ID.1`, `ID.2` and so on,
    /// because it had too many tokens, the error names these jobs.
    func noJob(_ id: String, in apps: [String]) async throws(CommandFailure) -> CommandFailure {
        var last: JobRecord?
        var count = 0
        while count < 10_000, let next = try await jobRecords(ofJob: "\(id).\(count + 1)", in: apps).first {
            (last, count) = (next, count + 1)
        }
        let place = apps.isEmpty ? "this farm" : apps.joined(separator: ", ")
        guard let last else { return .failed("there is no job \(id) in \(place)") }
        let names = count == 1 ? last.id : "\(id).1 to \(last.id)"
        return .failed(
            "there is no job \(id) in \(place), but \(names): push split the job into these jobs"
        )
    }
}
