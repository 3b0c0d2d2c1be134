import EventLoop
import StoreProtocol

/// Finds the app of a job.
extension FarmClient {
    /// The app that has a job with this id. With `app`, only that app is searched. A job that is not split has no job
    /// record. Therefore, if no app has a record, the result is the only app with jobs that are not split.
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

    /// Whether an app has jobs that are in the inbox, or that an intake has taken and not split yet.
    func hasWaitingJobs(_ app: String) async throws(CommandFailure) -> Bool {
        let depths = try await call(ReadDepths(shards: 0), app)
        return depths.inbox + depths.taken > 0
    }

    /// - Throws: an error when the job is unknown and cannot be in an inbox.
    func mustKnow(job id: String, in apps: [String]) async throws(CommandFailure) {
        guard try await jobRecords(ofJob: id, in: apps).isEmpty else { return }
        for name in apps where try await hasWaitingJobs(name) { return }
        throw .usage(try await noJob(id, in: apps).message)
    }

    func jobRecords(ofJob id: String, in apps: [String]) async throws(CommandFailure) -> [JobRecord] {
        var found: [JobRecord] = []
        for app in apps { if let record = try await jobRecord(id, app) { found.append(record) } }
        return found
    }
}

extension CommandFailure {
    /// The error for a name that could mean things of several kinds, such as an app and a job.
    /// - Parameter choices: the options that select one kind.
    static func ambiguous(_ name: String, _ choices: [String]) -> CommandFailure {
        .usage(
            "\"\(PlainText.of(name, limit: 64))\" is ambiguous; use \(choices.joined(separator: " or "))"
        )
    }

    /// The error for a job id that several apps have.
    /// - Parameter jobs: the records with this id.
    static func several(_ jobs: [JobRecord]) -> CommandFailure {
        .usage(
            "several apps have a job \(jobs[0].id); name one with --app: "
                + jobs.map(\.app).joined(separator: ", "))
    }
}
