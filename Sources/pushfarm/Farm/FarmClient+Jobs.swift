import EventLoop
import StoreProtocol

/// Finds the app of a job.
extension FarmClient {
    /// The app that has a job with this id. If `app` is given, it is the result. Otherwise the result is the app with a
    /// record of the job. A job that is not split yet has no record. So if no app has a record, and only one app has
    /// jobs that are not split, the result is this app.
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

    /// - Throws: an error if no app has a record of the job, and no app has jobs that are not split yet.
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
    /// The error for a name that has several meanings, for example because both an app and a job have this name.
    /// - Parameter choices: the options with which the user can select one meaning.
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
