import ArgumentParser
import EventLoop
import StoreProtocol

struct CancelCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancels a job's unsent pushes.",
        discussion: """
            Pushes in flight get their outcome from the gateway. All other pushes, in every
            queue and on every host, get the outcome "cancelled", also pushes that would be
            retried. The job is finished when the gateway has responded to the last push in
            flight. A job in the inbox is cancelled when the intake takes it. A cancelled
            job cannot be resumed.

            With --at, the job runs until the given time. Pushes that are still
            unsent at this time are cancelled.

            The command waits until the job is finished. Control-C ends only the wait, not
            the cancellation. The exit status is 3 when the job is not finished within the
            time that --timeout gives.

            Example:
              pushfarm cancel order-4711
              pushfarm cancel campaign-7 --app demo --at 2h
              pushfarm cancel campaign-7 --dry-run --json
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @OptionGroup var choice: JobChoice

    @Option(
        reads: ArgumentHelp(
            "Cancels the pushes that are unsent at this time: 2h or 3d from now, Unix seconds, or 2026-05-01T10:00:00Z.",
            valueName: "when"))
    var at: Moment?

    @Flag(inversion: .prefixedNo, help: "Waits until the job is finished.")
    var wait = true

    @Option(reads: ArgumentHelp("How long to wait until the job is finished.", valueName: "duration"))
    var timeout = DurationOption(seconds: 300)

    @Flag(help: "Shows what the command would do, and changes nothing.")
    var dryRun = false

    func validate() throws {
        // A time in the last hour counts as now. An older time is refused: it is probably an error, and a cancel cannot
        // be undone.
        if case .at(let moment) = at, moment / 1000 < WallClock.seconds - 3600 {
            throw ValidationError(
                "The time of --at is long past; to cancel now, leave the option out.")
        }
        try timeout.check("--timeout", 1...86_400)
    }

    func run(_ client: FarmClient, _ console: Console) async throws {
        let job = choice.job
        let moment = at?.future(now: WallClock.seconds * 1000)
        let app = try await client.app(ofJob: job, app: choice.app)
        let (hasChanged, jobState) = try await dryRun ? preview(app, client) : cancel(app, at: moment, client)
        if !dryRun, hasChanged {
            let words = moment.map { ["--at", "\($0 / 1000)"] } ?? []
            try await OperatorClient.record(["cancel", job, "--app", app] + words, client)
        }
        var jobRecord = try await client.jobRecord(job, app)
        var isOverdue = false
        if wait, at == nil, !dryRun, jobRecord?.state != .finished {
            let poller = JobRecordPoller(
                client: client, title: "cancelling", quiet: console.json, failsOnRefusal: false)
            jobRecord = try await poller.wait([job], app, atMost: timeout.duration).first
            isOverdue = jobRecord?.state != .finished
        }
        console.show(
            .object([
                "app": .string(app), "job": .string(job), "changed": .bool(hasChanged),
                "dry_run": .bool(dryRun), "expected": .bool(jobState == .expected),
                "record": jobRecord?.json ?? .null,
            ]), "job \(job) of \(app) \(text(jobRecord, hasChanged: hasChanged))\n")
        if isOverdue { throw CommandFailure(status: .partly, message: "job \(job) is not finished yet") }
    }

    @Loop private func cancel(
        _ app: String, at moment: Int64?, _ client: FarmClient
    ) async throws(CommandFailure) -> (hasChanged: Bool, jobState: ChangePauses.JobState) {
        let keep = Int(client.configuration.jobRecordLife.components.seconds)
        let cancel = ChangePauses(
            .cancel(choice.job, from: moment ?? 0, keep: keep), by: OperatorName.current)
        let reply = try await client.call(cancel, app)
        switch reply.jobState {
        case .unknown: throw try await client.noJob(choice.job, in: [app])
        case .full:
            throw .failed("\(app) already has 1000 cancelled jobs that are not finished; try again later")
        case .open, .expected, .finished, .none: return (reply.hasChanged, reply.jobState)
        }
    }

    @Loop private func preview(
        _ app: String, _ client: FarmClient
    ) async throws(CommandFailure) -> (hasChanged: Bool, jobState: ChangePauses.JobState) {
        let jobRecord = try await client.jobRecord(choice.job, app)
        let isCancelled = try await client.pauses(.cancels, app).contains { $0.text == choice.job }
        let jobState: ChangePauses.JobState =
            jobRecord.map { $0.state == .open ? .open : .finished } ?? .expected
        return (jobState != .finished && !isCancelled, jobState)
    }

    /// The effect on the job, for a person.
    private func text(_ jobRecord: JobRecord?, hasChanged: Bool) -> String {
        guard let jobRecord else {
            return dryRun
                ? "would be cancelled when it is taken" : "is cancelled when it is taken from the inbox"
        }
        let open = Figures.grouped(jobRecord.accepted - jobRecord.settled)
        let cancelled = Figures.grouped(jobRecord.cancelled)
        if dryRun {
            if hasChanged {
                return "would be cancelled: up to \(open) pushes of \(Figures.grouped(jobRecord.accepted))"
            }
            return jobRecord.state == .finished ? "is finished" : "is being cancelled already"
        }
        if jobRecord.state == .finished {
            return "is finished: \(cancelled) cancelled, "
                + "\(Figures.grouped(jobRecord.delivered)) delivered, \(Figures.grouped(jobRecord.failed)) failed"
        }
        let state =
            !hasChanged
            ? "was being cancelled already"
            : at == nil ? "is being cancelled" : "is cancelled from then on"
        return "\(state): \(cancelled) cancelled so far, \(open) open"
    }
}
