import EventLoop
import PushModel
import RedisClient
import StoreProtocol

/// Finds refused jobs, and puts them into the inbox again.
@Loop enum RefusedJobStore {
    /// The one job of that id, and its app.
    static func find(
        _ id: String, _ app: String?, _ client: FarmClient
    ) async throws(CommandFailure) -> (app: String, job: RefusedJob) {
        guard DeadLetterFilter.isID(id) else {
            throw .usage("\(id.prefix(64)) is no id of a refused job; they look like 1780000000123-0")
        }
        var found: [(app: String, job: RefusedJob)] = []
        for name in try await client.apps(meant: app) {
            found += try await client.call(ReadRefused(.only(EntryID(Array(id.utf8)))), name).map {
                (name, $0)
            }
        }
        guard let first = found.first else {
            throw .failed("there is no refused job \(id); it may have been sent again or dropped already")
        }
        guard found.count == 1 else {
            throw .usage(
                "several apps have a refused job \(id); name one with --app: "
                    + found.map(\.app).joined(separator: ", "))
        }
        return first
    }

    /// - Parameter corrected: submitted instead of the original.
    static func retry(
        _ id: String, _ app: String?, corrected: [UInt8]?, isDry: Bool, _ client: FarmClient
    ) async throws(CommandFailure) -> (app: String, job: String) {
        let (app, refused) = try await find(id, app, client)
        let text = corrected ?? refused.original
        let settings = client.configuration.app(named: app)
        let now = try await client.clock().components.seconds
        let limits = settings?.jobLimits ?? JobLimits()
        let job: ParsedJob
        do throws(JobError) {
            job = try JobParser.parse(
                text, app: app, topic: settings?.topic ?? "", now: now, limits: limits)
        } catch {
            // What is cut is no JSON any more.
            if corrected == nil, refused.mayBeCut {
                throw .failed(
                    "\(id) is larger than the 64 KiB that are kept of it: give the whole job with --file")
            }
            throw .failed(
                "it would be refused again: \(error.field), at \(error.position): \(error.reason); "
                    + "give a corrected job with --file")
        }
        if let id = job.id, let jobRecord = try await client.jobRecord(id, app) {
            guard jobRecord.state == .finished, jobRecord.createdAt < (now - 86_400) * 1000 else {
                throw .failed(
                    "it would be refused: a job \(id) is open or younger than 24 hours. Give it another id with --file"
                )
            }
        }
        guard !isDry else { return (app, job.id ?? "") }
        let name = job.id ?? refused.job
        try await perform(
            refused.id, app, .init(text: text, old: refused.job, id: name, number: 0), client)
        return (app, job.id ?? "")
    }

    /// One of them leaves the refused jobs: into the inbox, or permanently.
    static func perform(
        _ id: EntryID, _ app: String, _ job: Replay.NewJob?, _ client: FarmClient
    ) async throws(CommandFailure) {
        let replay = Replay(
            name: JobDraft.freshID(), step: 1, selection: "refused \(id)", until: id, life: 3600,
            stream: .refused, job: job, letters: [id])
        let store = AppStore(app: app, connection: client.redis)
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            let reply: Replay.Reply
            do throws(StoreError) {
                reply = try await store.performPatiently(replay, within: .seconds(30))
            } catch {
                if case .gone = error { throw .failed("\(id) was sent again or dropped meanwhile") }
                throw client.failure(error)
            }
            guard case .full(let reason, let pause) = reply else {
                return try await client.note(
                    ["refused", job == nil ? "drop" : "retry", "\(id)", "--app", app], "")
            }
            guard ContinuousClock.now + pause < deadline else {
                throw .temporary("\(FullReason.words(reason, app)); try again later")
            }
            do { try await Loop.sleep(for: pause) } catch { throw .failed("interrupted") }
        }
    }
}
