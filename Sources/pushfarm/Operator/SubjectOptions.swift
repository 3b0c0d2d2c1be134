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

    @Option(help: ArgumentHelp("Only this shard of the app.", valueName: "n"))
    var shard: Int?

    @Flag(help: "Says what would be done, and changes nothing.")
    var dryRun = false

    /// For the record of operations.
    var words: [String] {
        [name, job.map { "--job=" + $0 }, app.map { "--app=" + $0 }, shard.map { "--shard=\($0)" }].compactMap
        { $0 }
    }

    func check() throws {
        guard (name == nil) != (job == nil) else { throw ValidationError("Name an app, a job or all.") }
        if let shard, !(0...9999).contains(shard) { throw ValidationError("--shard is a shard's number.") }
        if shard != nil, job != nil || app != nil {
            throw ValidationError("--shard goes with an app's name.")
        }
    }
    @Loop func find(_ client: FarmClient) async throws(CommandFailure) -> Subject {
        try await Subject.find(name, job: job, app: app, client)
    }

    /// Says how to mean the job when the name was taken for an app.
    @Loop func note(
        _ apps: [String], _ verb: String, _ client: FarmClient
    ) async throws(CommandFailure) -> String? {
        guard let name, apps == [name] else { return nil }
        for app in try await client.apps() where try await client.account(name, app) != nil {
            return "There is a job \(name) as well: pushfarm \(verb) --job \(name) --app \(app)"
        }
        return nil
    }
}
