import EventLoop
import PushModel
import RedisProtocol
import StoreProtocol

/// What an app knows of one job.
@Loop struct JobSearch {
    struct Outcome: Sendable {
        let app: String
        var jobRecord: JobRecord?
        /// Why what is open of it is not sent at this moment.
        var delays: [String] = []
        /// It waits, whole.
        var place: PushFinding.Place?
        /// By an operator or by the farm.
        var isPaused = false
        /// Pushes by reason.
        var letters: [String: Int] = [:]
        var refused: [RefusedJob] = []
        /// Of the job itself, not of its pushes.
        var events: [EventEntry] = []

        var isKnown: Bool {
            jobRecord != nil || place != nil || !letters.isEmpty || !refused.isEmpty || !events.isEmpty
        }
    }

    let client: FarmClient
    let app: String
    let job: String
    /// Events looked at, the latest.
    let events: Int

    func run() async throws(CommandFailure) -> Outcome {
        var outcome = Outcome(app: app)
        outcome.jobRecord = try await client.jobRecord(job, app)
        if let jobRecord = outcome.jobRecord {
            outcome.delays = try await client.delays(of: jobRecord)
        } else {
            outcome.place = try await place()
        }
        outcome.isPaused = try await client.marks(.jobs, app).contains { $0.text == job }
        try await DeadLetterStore(client: client, app: app).read(DeadLetterFilter(job: job)) {
            (letter) throws(CommandFailure) in
            outcome.letters[letter.reason, default: 0] += letter.pushes
            return true
        }
        var after: EntryID?
        repeat {
            let page = try await client.call(ReadRefused(.after(after)), app)
            outcome.refused += page.filter { $0.job == job }
            after = page.last?.id
        } while after != nil
        outcome.events = try await client.events(of: app, among: events) {
            ($0["job"] == job || $0["replay"] == job) && $0["type"]?.hasPrefix("job.") == true
        }
        return outcome
    }

    /// Whether it is in the inbox, or taken and not yet split.
    private func place() async throws(CommandFailure) -> PushFinding.Place? {
        let search = JobTexts(client)
        if try await search.contains(.inbox, job: job, app: app) { return .inbox }
        return try await search.contains(.taken, job: job, app: app) ? .taken : nil
    }
}
