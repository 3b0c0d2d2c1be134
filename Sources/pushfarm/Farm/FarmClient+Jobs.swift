import EventLoop
import StoreProtocol

/// Which app has a job.
extension FarmClient {
    /// The app that has a job of this id; with `app`, that one. A job that is still in an inbox has no job record: it is
    /// taken for one of the only app that has something there.
    func app(ofJob id: String, app: String?) async throws(CommandFailure) -> String {
        let known = try await apps()
        if let app {
            guard known.contains(app) else { throw .noApp(app, among: known) }
            return app
        }
        let found = try await jobRecords(ofJob: id, in: known)
        guard found.count < 2 else { throw .several(found) }
        if let only = found.first { return only.app }
        var waiting: [String] = []
        for name in known where try await hasWaitingJobs(name) { waiting.append(name) }
        guard let only = waiting.first else { throw try await noJob(id, in: known) }
        guard waiting.count == 1 else {
            throw .usage(
                "no app has a job \(id) yet, and several have jobs in their inboxes; name one with --app: "
                    + waiting.joined(separator: ", "))
        }
        return only
    }

    /// Whether jobs are in the inbox of an app, or taken and not yet split.
    func hasWaitingJobs(_ app: String) async throws(CommandFailure) -> Bool {
        let depths = try await call(ReadDepths(shards: 0), app)
        return depths.inbox + depths.taken > 0
    }

    /// - Throws: when the job is unknown and cannot be in an inbox.
    func mustKnow(job id: String, in apps: [String]) async throws(CommandFailure) {
        guard try await jobRecords(ofJob: id, in: apps).isEmpty else { return }
        for name in apps where try await hasWaitingJobs(name) { return }
        throw .usage(try await noJob(id, in: apps).message)
    }

    /// The records of jobs of one id.
    func jobRecords(ofJob id: String, in apps: [String]) async throws(CommandFailure) -> [JobRecord] {
        var found: [JobRecord] = []
        for app in apps { if let record = try await jobRecord(id, app) { found.append(record) } }
        return found
    }
}

extension CommandFailure {
    /// A name that fits several kinds.
    /// - Parameter choices: the options that say which one is meant.
    static func ambiguous(_ name: String, _ choices: [String]) -> CommandFailure {
        .usage(
            "\"\(PlainText.of(name, limit: 64))\" has several meanings; use \(choices.joined(separator: " or "))"
        )
    }

    /// - Parameter jobs: of one id.
    static func several(_ jobs: [JobRecord]) -> CommandFailure {
        .usage(
            "several apps have a job \(jobs[0].id); name one with --app: "
                + jobs.map(\.app).joined(separator: ", "))
    }
}
