import EventLoop
import FarmConfiguration
import StoreProtocol

/// `pushfarm screen`, from the connection to the job record.
struct ScreeningService: Sendable {
    let configuration: Configuration
    let plan: ScreeningRun.Plan
    let paths: ScreeningFiles.Paths
    let survey: TokenSurvey
    let anew: Bool
    let console: Console

    @Loop func run() async throws {
        let end = EndSignal()
        let client = try await FarmClient.connect(configuration)
        defer { client.close() }
        try await client.mustHave(app: plan.app)
        let limit = configuration.app(named: plan.app)?.maxTokens ?? Int.max
        let fresh = ScreeningRecord(
            app: plan.app, run: String(UInt64.random(in: .min ... .max), radix: 36),
            fingerprint: survey.fingerprint, chunk: ScreeningPace.chunk(rate: plan.rate, limit: limit),
            since: try await client.entries(of: .events(plan.app), .latest, count: 1).first?.id.description
                ?? EntryID.first.description)
        let run = ScreeningRun(
            client: client, plan: plan, survey: survey,
            files: try ScreeningFiles(paths, fresh: fresh, anew: anew),
            progress: ScreeningProgress(total: survey.tokens, quiet: console.json))
        var failure: CommandFailure?
        do { try await run.run { end.isGiven } } catch { failure = error }
        let jobRecord = run.jobRecord
        console.show(jobRecord.json, jobRecord.text(console.style))
        if let failure { throw failure }
        guard jobRecord.open == 0 else {
            throw CommandFailure.temporary("interrupted; the same command continues from here")
        }
        if !jobRecord.isClear { throw CommandFailure.failed() }
    }
}
