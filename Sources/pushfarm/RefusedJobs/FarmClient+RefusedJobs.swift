import EventLoop
import PushModel
import RedisClient
import StoreProtocol

extension FarmClient {
    /// The refused job with this id, and its app.
    func refusedJob(
        _ id: EntryID, _ app: String?
    ) async throws(CommandFailure) -> (app: String, job: RefusedEntry) {
        var found: [(app: String, job: RefusedEntry)] = []
        for name in try await apps(selectedBy: app) {
            found += try await call(ReadRefused(.only(id)), name).map { (name, $0) }
        }
        guard let first = found.first else {
            throw .failed("there is no refused job \(id); perhaps it was already resubmitted or deleted")
        }
        guard found.count == 1 else {
            throw .usage(
                "several apps have a refused job \(id); name one with --app: "
                    + found.map(\.app).joined(separator: ", "))
        }
        return first
    }

    /// Passes the refused jobs of an app to `body`, the oldest first.
    func eachRefusedJob(of app: String, _ body: (RefusedEntry) -> Void) async throws(CommandFailure) {
        var after: EntryID?
        repeat {
            let page = try await call(ReadRefused(.after(after)), app)
            for job in page { body(job) }
            after = page.last?.id
        } while after != nil
    }

    /// The job that replaces a refused job.
    /// - Parameter corrected: the text of a corrected job, which is submitted instead of the refused job; nil to submit
    ///   the refused job again.
    /// - Returns: the new job, and the job id that the text of this job contains, or nil if it contains none.
    /// - Throws: an error when the farm would refuse the job again.
    func resubmittedJob(
        _ refused: RefusedEntry, corrected: [UInt8]?, _ app: String
    ) async throws(CommandFailure) -> (job: Replay.NewJob, id: String?) {
        let text = corrected ?? refused.original
        let settings = configuration.app(named: app)
        let now = try await clock().components.seconds
        let job: ParsedJob
        do throws(JobError) {
            job = try JobParser.parse(
                text, app: app, topic: settings?.topic ?? "", now: now,
                limits: settings?.jobLimits ?? JobLimits())
        } catch {
            // Of a long refused job, Redis stores only the beginning, which is not valid JSON.
            if corrected == nil, refused.mayBeCut {
                throw .failed(
                    "\(refused.id) was cut at 64 KiB; give the whole job with --file"
                )
            }
            throw .failed(
                "it would be refused again: \(error.field), at \(error.position): \(error.reason); "
                    + "give a corrected job with --file")
        }
        if let id = job.id, let jobRecord = try await jobRecord(id, app) {
            guard jobRecord.state == .finished, jobRecord.createdAt < (now - 86_400) * 1000 else {
                throw .failed(
                    "it would be refused: a job \(id) is open or younger than 24 hours. Give it another id with --file"
                )
            }
        }
        let id = job.id ?? refused.subject
        return (Replay.NewJob(text: text, old: refused.subject, id: id, number: 0), job.id)
    }

    /// Removes a refused job.
    /// - Parameter job: the job that Redis adds to the inbox in the same step; nil to only remove the refused job.
    func takeOut(_ id: EntryID, _ app: String, replacedBy job: Replay.NewJob?) async throws(CommandFailure) {
        let replay = Replay(
            name: JobDraft.freshID(), step: 1, selection: "refused \(id)", until: id, life: 3600,
            stream: .refused, job: job, letters: [id])
        let store = AppRedis(app: app, connection: redis)
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            let reply: Replay.Reply
            do throws(StoreError) {
                reply = try await store.performWithRetries(replay, within: .seconds(30))
            } catch {
                if case .gone = error {
                    throw .failed("the refused job \(id) is gone: it was resubmitted or deleted meanwhile")
                }
                throw failure(error)
            }
            guard case .full(let reason, let pause) = reply else {
                return try await note(
                    ["refused", job == nil ? "drop" : "resubmit", "\(id)", "--app", app], "")
            }
            guard ContinuousClock.now + pause < deadline else {
                throw .temporary("\(FullReason.words(reason, app)); try again later")
            }
            do { try await Loop.sleep(for: pause) } catch { throw .failed("interrupted") }
        }
    }
}

extension RefusedEntry {
    /// The refused job with its stable field names. With `original`, the object also has the job's original
    /// text, which the command `show` prints.
    func jobJSON(app: String, original: Bool = false) -> JSONValue {
        var fields = JSONValue.fields([
            "id": .string(id.description), "app": .string(app), "at": .number(id.milliseconds),
            "job": .string(subject), "field": .string(field), "position": .number(position),
            "reason": .string(reason), "bytes": .number(self.original.count), "jobs": .number(count),
        ])
        if original {
            fields += JSONValue.fields(["original": .string(String(decoding: self.original, as: UTF8.self))])
        }
        return .object(fields)
    }
}
