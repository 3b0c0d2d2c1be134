import ArgumentParser
import EventLoop
import StoreProtocol

struct CancelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancels a job's unsent pushes.",
        discussion: """
            Pushes in flight get their outcome from the gateway; all others end as
            cancelled, in every queue and on every host, and are not retried. The job is
            finished when the last response has come. A job in the inbox is cancelled when
            the intake takes it. A cancelled job cannot be resumed.

            With --expire-at, the job runs until that moment; its unsent pushes are
            cancelled then.

            Waits until the job is finished; an interrupt ends only the waiting. Status 3
            when it is not finished within --patience.

            Example:
              pushfarm cancel order-4711
              pushfarm cancel campaign-7 --app demo --expire-at 2h
              pushfarm cancel campaign-7 --dry-run --json
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @OptionGroup var choice: JobChoice

    @Option(
        reads: ArgumentHelp(
            "Only what is not sent by then: 2h or 3d from now, Unix seconds, or 2026-05-01T10:00:00Z.",
            valueName: "when"))
    var expireAt: Moment?

    @Flag(inversion: .prefixedNo, help: "Wait until the job is finished.")
    var wait = true

    @Option(reads: ArgumentHelp("How long to wait.", valueName: "duration"))
    var patience = TimeSpan(seconds: 300)

    @Flag(help: "Says what would be done, and changes nothing.")
    var dryRun = false

    func validate() throws {
        // A moment just gone counts as now; what is long past was meant otherwise, and there is no way back.
        if case .at(let moment) = expireAt, moment / 1000 < WallClock.seconds - 3600 {
            throw ValidationError("--expire-at is long past; leave it out to cancel now.")
        }
        try patience.check("--patience", 1...86_400)
    }

    /// The result of the command.
    private struct Outcome: Sendable {
        let app: String
        let changed: Bool
        let subject: Hold.Subject
        var jobRecord: JobRecord?
        var isOverdue = false
    }

    func run() throws {
        let (configuration, job, app, expireAt) = (
            try common.load(), choice.job, choice.app, expireAt?.future(now: WallClock.seconds * 1000)
        )
        let (wait, patience, dryRun) = (wait && expireAt == nil, patience.duration, dryRun)
        let console = Console(json: common.json)
        let outcome = try configuration.withClient { client in
            let app = try await client.app(ofJob: job, app: app)
            var outcome =
                try await dryRun
                ? Self.preview(job, app, client)
                : Self.cancel(job, app, from: expireAt ?? 0, client)
            if !dryRun, outcome.changed {
                let moment = expireAt.map { ["--expire-at", "\($0 / 1000)"] } ?? []
                try await OperatorClient.record(["cancel", job, "--app", app] + moment, client)
            }
            outcome.jobRecord = try await client.jobRecord(job, app)
            guard wait, !dryRun, outcome.jobRecord?.state != .finished else { return outcome }
            let watch = CancelWait(client: client, console: console)
            outcome.jobRecord = try await watch.wait(job, app, atMost: patience)
            outcome.isOverdue = outcome.jobRecord?.state != .finished
            return outcome
        }
        show(outcome, console)
        if outcome.isOverdue {
            throw CommandFailure(status: .partly, message: "job \(job) is not finished yet")
        }
    }

    @Loop private static func cancel(
        _ job: String, _ app: String, from: Int64, _ client: FarmClient
    ) async throws(CommandFailure) -> Outcome {
        let keep = Int(client.configuration.jobRecordLife.components.seconds)
        let hold = Hold(.cancel(job, from: from, keep: keep), by: OperatorName.current)
        let reply = try await client.call(hold, app)
        switch reply.subject {
        case .unknown: throw try await client.noJob(job, in: [app])
        case .full: throw .failed("\(app) has 1000 cancelled jobs that are not finished")
        case .open, .expected, .finished, .none: break
        }
        return Outcome(app: app, changed: reply.hasChanged, subject: reply.subject)
    }

    @Loop private static func preview(
        _ job: String, _ app: String, _ client: FarmClient
    ) async throws(CommandFailure) -> Outcome {
        let jobRecord = try await client.jobRecord(job, app)
        let isCalledBack = try await client.marks(.cancels, app).contains { $0.text == job }
        let subject: Hold.Subject = jobRecord.map { $0.state == .open ? .open : .finished } ?? .expected
        return Outcome(app: app, changed: subject != .finished && !isCalledBack, subject: subject)
    }

    private func show(_ outcome: Outcome, _ console: Console) {
        let jobRecord = outcome.jobRecord
        let job = choice.job
        var text = "job \(job) of \(outcome.app) "
        if let jobRecord {
            let open = jobRecord.accepted - jobRecord.settled
            if dryRun {
                text +=
                    outcome.changed
                    ? "would be cancelled: up to \(Figures.grouped(open)) pushes of \(Figures.grouped(jobRecord.accepted))"
                    : jobRecord.state == .finished ? "is finished" : "is being cancelled already"
            } else if jobRecord.state == .finished {
                text += "is finished: \(Figures.grouped(jobRecord.cancelled)) cancelled, "
                text +=
                    "\(Figures.grouped(jobRecord.delivered)) delivered, \(Figures.grouped(jobRecord.failed)) failed"
            } else {
                text +=
                    !outcome.changed
                    ? "was being cancelled already: "
                    : expireAt == nil ? "is being cancelled: " : "is cancelled from then on: "
                text +=
                    "\(Figures.grouped(jobRecord.cancelled)) cancelled so far, \(Figures.grouped(open)) open"
            }
        } else {
            text +=
                dryRun
                ? "would be cancelled when it is taken" : "is cancelled when it is taken from the inbox"
        }
        console.show(
            .object([
                "app": .string(outcome.app), "job": .string(job), "changed": .bool(outcome.changed),
                "dry_run": .bool(dryRun), "expected": .bool(outcome.subject == .expected),
                "record": jobRecord?.json ?? .null,
            ]), text + "\n")
    }
}

/// Waits until a cancelled job is finished.
@Loop struct CancelWait {
    let client: FarmClient
    let console: Console

    /// - Returns: the job record as it was last; nil when the job was refused or never came.
    func wait(_ job: String, _ app: String, atMost patience: Duration) async throws(CommandFailure)
        -> JobRecord?
    {
        let deadline = ContinuousClock.now + patience
        var progress: ProgressLine?
        defer { progress?.finish() }
        var pause = Duration.milliseconds(10)
        while true {
            let jobRecord = try await client.jobRecord(job, app)
            if jobRecord?.state == .finished { return jobRecord }
            if jobRecord == nil, try await client.refusal(of: job, app) != nil { return nil }
            if let jobRecord {
                if progress == nil {
                    progress = ProgressLine("cancelling", total: jobRecord.accepted, quiet: console.json)
                }
                progress?.update(jobRecord.settled)
            }
            guard ContinuousClock.now < deadline else { return jobRecord }
            do { try await Loop.sleep(for: pause) } catch { return jobRecord }
            pause = min(pause * 2, .milliseconds(250))
        }
    }
}
