import ArgumentParser
import EventLoop

/// Which app, job or shard an order is about.
struct SubjectOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("An app, a job's id, or all.", valueName: "app|job|all"), completion: .apps)
    var name: String?

    @Option(help: ArgumentHelp("A job, even if an app has that name.", valueName: "id"))
    var job: String?

    @Option(
        help: ArgumentHelp("The job's app, when several have one of that id.", valueName: "name"),
        completion: .apps)
    var app: String?

    @Option(reads: ArgumentHelp("Only this shard of the app.", valueName: "n"))
    var shard: Int?

    @Flag(help: "Says what would be done, and changes nothing.")
    var dryRun = false

    /// For the record of operations.
    private var words: [String] {
        [name, job.map { "--job=" + $0 }, app.map { "--app=" + $0 }, shard.map { "--shard=\($0)" }].compactMap
        { $0 }
    }

    func validate() throws {
        guard (name == nil) != (job == nil) else { throw ValidationError("Name an app, a job or all.") }
        if let shard, !(0...9999).contains(shard) { throw ValidationError("--shard is a shard's number.") }
        if shard != nil, job != nil || app != nil {
            throw ValidationError("--shard goes with an app's name.")
        }
    }
}

extension SubjectOptions {
    /// One of the things that an order is about.
    enum Target: Sendable {
        case app(String)
        case shard(Int, app: String)
        case job(String, app: String)
    }

    /// Makes a change of each thing that is meant, and says what came of it.
    /// - Parameters:
    ///   - takesHosts: the name may be a host's as well, which the caller has looked for.
    ///   - head: fields that stand first for programs.
    func change(
        _ verb: String, _ common: CommonOptions, takesHosts: Bool = false,
        _ change: @escaping @Loop (Target, FarmClient) async throws(CommandFailure) -> ChangeReport.Line,
        head: @escaping @Loop ([ChangeReport.Line]) -> [JSONValue.Field] = { _ in [] }
    ) throws {
        let (configuration, console) = (try common.load(), Console(json: common.json))
        try ChangeReport.make(verb, isDryRun: dryRun, configuration, console) { report, client in
            switch try await Subject.find(name, job: job, app: app, takesHosts: takesHosts, client) {
            case .apps(let apps):
                for app in apps {
                    let target = shard.map { Target.shard($0, app: app) } ?? .app(app)
                    report.lines.append(try await change(target, client))
                }
                report.note = try await note(apps, verb, client)
            case .job(let job, let app):
                report.lines.append(try await change(.job(job, app: app), client))
            }
            report.head = head(report.lines)
            return words
        }
    }

    /// Says how to mean the job when the name was taken for an app.
    @Loop private func note(
        _ apps: [String], _ verb: String, _ client: FarmClient
    ) async throws(CommandFailure) -> String? {
        guard let name, apps == [name] else { return nil }
        for app in try await client.apps() where try await client.account(name, app) != nil {
            return "There is a job \(name) as well: pushfarm \(verb) --job \(name) --app \(app)"
        }
        return nil
    }
}
