import EventLoop
import StoreProtocol

/// What a name on a command line means: an app, all apps, or a job. A name that fits an app and a job is refused.
enum Subject: Equatable, Sendable {
    case apps([String])
    case job(String, app: String)

    /// - Parameters:
    ///   - name: "all", an app's name or a job's id; nil when `job` says it.
    ///   - app: of the job, when several have one of that id.
    ///   - takesHosts: a name may be a host's as well, which was looked for before.
    @Loop static func find(
        _ name: String?, job: String?, app: String?, takesHosts: Bool = false, _ client: FarmClient
    ) async throws(CommandFailure) -> Subject {
        let apps = try await client.apps()
        if let app, !apps.contains(app) { throw .noApp(app, among: apps) }
        if let job { return .job(job, app: try await client.app(ofJob: job, app: app)) }
        guard let name else { throw .usage("name an app, a job or all") }
        if app == nil {
            if name == "all" { return .apps(apps) }
            if apps.contains(name) {
                if let job = try await client.jobRecords(ofJob: name, in: apps).first {
                    throw .ambiguous(name, ["--app \(name)", "--job \(name) --app \(job.app)"])
                }
                return .apps([name])
            }
        }
        do {
            return .job(name, app: try await client.app(ofJob: name, app: app))
        } catch {
            guard error.status == .failed, app == nil else { throw error }
            let hosts = takesHosts ? try await OperatorClient.living(client) : nil
            throw .usage(UnknownName.subject(name, apps: apps, hosts: hosts, noJob: error.message))
        }
    }
}

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
        for name in known {
            let depths = try await call(ReadDepths(shards: 0), name)
            if depths.inbox + depths.taken > 0 { waiting.append(name) }
        }
        guard let only = waiting.first else { throw try await noJob(id, in: known) }
        guard waiting.count == 1 else {
            throw .usage(
                "no app has a job \(id) yet, and several have jobs in their inboxes; name one with --app: "
                    + waiting.joined(separator: ", "))
        }
        return only
    }

    /// - Throws: when the job is unknown and cannot be in an inbox.
    func mustKnow(job id: String, in apps: [String]) async throws(CommandFailure) {
        guard try await jobRecords(ofJob: id, in: apps).isEmpty else { return }
        for name in apps {
            let depths = try await call(ReadDepths(shards: 0), name)
            if depths.inbox + depths.taken > 0 { return }
        }
        throw .usage(try await noJob(id, in: apps).message)
    }

    /// The records of jobs of one id.
    func jobRecords(ofJob id: String, in apps: [String]) async throws(CommandFailure) -> [JobRecord] {
        var found: [JobRecord] = []
        for app in apps { if let record = try await jobRecord(id, app) { found.append(record) } }
        return found
    }

    /// Has all coordinators look at once at what has changed.
    func announceChange() async throws(CommandFailure) {
        _ = try await ask { registry throws(RedisError) in
            try await registry.announce(Array(HostCommand.other.text.utf8))
        }
    }

    /// The farm's number of shards.
    func shards() async throws(CommandFailure) -> Int {
        try await ask { registry throws(RedisError) in try await registry.fixedShards() }
            ?? configuration.shards
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
