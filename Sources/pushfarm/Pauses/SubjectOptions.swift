import ArgumentParser
import EventLoop
import PushModel

/// The app, job, token or shard to pause or resume.
struct SubjectOptions: ParsableArguments, Sendable {
    @Argument(
        help: ArgumentHelp("An app, a job's id, or \"all\" for all apps.", valueName: "app|job|all"),
        completion: .apps)
    var name: String?

    @Option(help: ArgumentHelp("The app, or the app of the job, token or shard.", valueName: "name"))
    var app: String?

    @Option(help: ArgumentHelp("A job's id.", valueName: "id"))
    var job: String?

    @Option(
        help: ArgumentHelp("A device token, as hex.", valueName: "hex"),
        transform: { try DeviceToken.bytes(of: $0) })
    var token: [UInt8]?

    @Option(reads: ArgumentHelp("The number of a shard of the app.", valueName: "n"))
    var shard: Int?

    @Flag(help: "Shows what the command would do, and changes nothing.")
    var dryRun = false

    /// Whether the command line names no app, job, token or shard.
    var isEmpty: Bool { name == nil && app == nil && job == nil && token == nil && shard == nil }

    /// The typed options for the audit log. Device tokens are never recorded.
    var words: [String] {
        func option(_ name: String, _ value: String?) -> [String] { value.map { ["--" + name, $0] } ?? [] }
        return (name.map { [$0] } ?? []) + option("job", job) + option("token", token.map { _ in "..." })
            + option("shard", shard.map(String.init)) + option("app", app)
    }

    func validate() throws {
        let named = [name != nil && shard == nil, job != nil, token != nil, shard != nil].count { $0 }
        guard named < 2 else {
            throw ValidationError("Name only one of these: an app, a job, --token, --shard.")
        }
        if let shard, !(0...9999).contains(shard) {
            throw ValidationError("A shard number is 0 or more.")
        }
        if name != nil, shard != nil, app != nil {
            throw ValidationError("With --shard, name the app once: as a name, or with --app.")
        }
    }
}

extension SubjectOptions {
    /// Changes each selected subject and shows the changes.
    /// - Parameters:
    ///   - options: the command's own options, for the audit log.
    ///   - takesHosts: whether the command also accepts a host's name. The caller has already handled the names of
    ///     living hosts. Here the parameter only decides whether the error message for an unknown name lists the hosts.
    ///   - head: returns the first fields of the JSON output.
    func change(
        _ verb: String, _ common: CommonOptions, options: [String] = [], takesHosts: Bool = false,
        _ change:
            @escaping @Loop (OperatorPause, PauseTarget) async throws(CommandFailure) -> ChangeReport.Line,
        head: @escaping @Loop ([ChangeReport.Line]) -> [JSONValue.Field] = { _ in [] }
    ) throws {
        let (configuration, console) = (try common.load(), Console(json: common.json))
        try ChangeReport.make(verb, isDryRun: dryRun, configuration, console) { report, client in
            let pauses = OperatorPause(client: client, isDryRun: dryRun)
            for target in try await targets(client, takesHosts: takesHosts) {
                report.lines.append(try await change(pauses, target))
            }
            report.head = head(report.lines)
            return options + words
        }
    }

    @Loop private func targets(
        _ client: FarmClient, takesHosts: Bool
    ) async throws(CommandFailure) -> [PauseTarget] {
        if let shard { return try await apps(client).map { .shard(shard, app: $0) } }
        if let token {
            let app = try await client.chosenApp(app)
            try await client.mustHave(app: app)
            return [.token(token, app: app)]
        }
        if let job { return [.job(job, app: try await client.app(ofJob: job, app: app))] }
        guard let name else { return try await apps(client).map { .app($0) } }
        let known = try await client.apps()
        if app == nil, name == "all" { return known.map { .app($0) } }
        if app == nil, known.contains(name) {
            if let job = try await client.jobRecords(ofJob: name, in: known).first {
                throw .ambiguous(name, ["--app \(name)", "--job \(name) --app \(job.app)"])
            }
            return [.app(name)]
        }
        do {
            return [.job(name, app: try await client.app(ofJob: name, app: app))]
        } catch {
            guard error.status == .failed, app == nil else { throw error }
            let hosts = takesHosts ? try await OperatorClient.liveHosts(client) : nil
            throw .usage(UnknownName.subject(name, apps: known, hosts: hosts, noJob: error.message))
        }
    }

    /// The app that the argument or `--app` names, or all apps if the argument is `all`.
    @Loop private func apps(_ client: FarmClient) async throws(CommandFailure) -> [String] {
        if (name ?? app) == "all" { return try await client.apps() }
        let chosen = try await client.chosenApp(name ?? app)
        try await client.mustHave(app: chosen)
        return [chosen]
    }
}
