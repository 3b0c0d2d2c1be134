import EventLoop
import FarmLogging
import PushModel
import StoreProtocol

/// Collects what Redis knows about a job in one app.
@Loop struct JobSearch {
    struct Outcome: Sendable {
        let app: String
        var jobRecord: JobRecord?
        /// The reasons why open pushes of the job are not sent now.
        var delays: [String] = []
        /// Where the job is while it is not split: in the inbox, or taken by an intake. Nil if the job is split or
        /// unknown.
        var location: PushFinding.Location?
        /// Whether an operator or the farm has paused the job.
        var isPaused = false
        /// The number of the job's pushes in dead letters, by reason.
        var letters: [String: Int] = [:]
        var refused: [RefusedEntry] = []
        /// Events of the job itself, without events of its pushes.
        var events: [EventEntry] = []

        var isKnown: Bool {
            jobRecord != nil || location != nil || !letters.isEmpty || !refused.isEmpty || !events.isEmpty
        }
    }

    let client: FarmClient
    let app: String
    let job: String
    /// The number of latest events to search.
    let events: Int

    func run() async throws(CommandFailure) -> Outcome {
        var outcome = Outcome(app: app)
        outcome.jobRecord = try await client.jobRecord(job, app)
        if let jobRecord = outcome.jobRecord {
            outcome.delays = try await client.delays(of: jobRecord)
        } else {
            outcome.location = try await location()
        }
        outcome.isPaused = try await client.pauses(.jobs, app).contains { $0.text == job }
        try await client.readDeadLetters(of: app, DeadLetterFilter(job: job)) {
            (letter) throws(CommandFailure) in
            outcome.letters[letter.reason, default: 0] += letter.pushes
            return true
        }
        try await client.eachRefusedJob(of: app) { if $0.subject == job { outcome.refused.append($0) } }
        outcome.events = try await client.events(of: app, among: events) {
            ($0["job"] == job || $0["replay"] == job) && $0["type"]?.hasPrefix("job.") == true
        }
        return outcome
    }

    /// Where the job is, if it is in the inbox, or if an intake has taken the job and not split it yet; otherwise nil.
    private func location() async throws(CommandFailure) -> PushFinding.Location? {
        let lists: [(ReadListEnd.List, PushFinding.Location)] = [
            (.inbox, .inbox), (.taken, .taken), (.lookups, .taken),
        ]
        for (list, location) in lists {
            var isThere = false
            try await client.eachJob(in: list, of: app) { text in
                isThere = client.parse(text, of: app)?.id == job
                return !isThere
            }
            if isThere { return location }
        }
        return nil
    }
}

extension JobSearch.Outcome {
    func json(_ job: String) -> JSONValue {
        .object([
            "job": .string(job), "app": .string(app), "place": .text(location?.rawValue),
            "paused": .bool(isPaused), "record": jobRecord?.json ?? .null,
            "delays": .strings(delays), "dead_letters": .counts(letters),
            "refused": .array(refused.map { $0.jobJSON(app: app) }),
            "events": .array(events.map { EventTail.Line(app: app, event: $0).json }),
        ])
    }

    func text(_ job: String, _ console: Console) -> String {
        var text = ""
        if let jobRecord {
            text += JobReport(jobRecords: [jobRecord], console: console, delays: delays).text(jobRecord)
        }
        if let location { text += "\(PlainText.of(app)) \(PlainText.of(job))  \(location.rawValue)\n" }
        if isPaused { text += Paint.red.on("paused", if: console.colours) + "\n" }
        for (reason, pushes) in letters.sorted(by: { $0.key < $1.key }) {
            text += "dead letters: \(Figures.grouped(pushes)) pushes, \(PlainText.of(reason))\n"
        }
        for refused in refused {
            text +=
                "refused: \(refused.id)  \(PlainText.of(refused.field)): \(PlainText.of(refused.reason, limit: 300))\n"
        }
        for event in events { text += EventTail.Line(app: app, event: event).text(console.colours) + "\n" }
        return text
    }
}

extension FarmClient {
    private static let jobBytes = 1 << 20

    /// Reads jobs that are not split yet, about a megabyte at a time. The list is read from its end to its start. The
    /// intake removes jobs at the start, so the positions counted from the end do not change, and no job is skipped.
    /// - Parameter body: returns whether to continue.
    func eachJob(
        in list: ReadListEnd.List, of app: String, _ body: ([UInt8]) -> Bool
    ) async throws(CommandFailure) {
        var (skipped, count) = (0, 1)
        while true {
            let jobs = try await call(ReadListEnd(list, skipping: skipped, count: count), app)
            for job in jobs { guard body(job) else { return } }
            guard jobs.count == count else { return }
            skipped += count
            let bytes = jobs.reduce(0) { $0 + $1.count }
            if bytes < Self.jobBytes / 4 {
                count = min(count * 2, 512)
            } else if bytes > Self.jobBytes {
                count = max(1, count / 2)
            }
        }
    }

    /// Returns nil when the farm would refuse the job.
    func parse(_ job: [UInt8], of app: String) -> ParsedJob? {
        try? JobParser.parse(
            job, app: app, topic: configuration.app(named: app)?.topic ?? "", now: redis.clock.seconds,
            limits: JobLimits(tokens: 1_000_000, longestWait: JobLimits.intakeWait))
    }
}
