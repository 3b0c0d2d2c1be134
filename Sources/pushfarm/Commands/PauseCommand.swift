import ArgumentParser
import EventLoop
import FarmStore

struct PauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Stops sending for an app, a job or all apps; nothing is lost.",
        discussion: """
            Nothing new is sent anywhere in the farm from now on; what is on its way is
            awaited, and what workers have in hand goes back into the queue. Jobs are still
            taken in. It stays so, through restarts and new credentials, until it is resumed.

            An app's name goes before a job's: a job that is named like an app is meant
            with --job.

            Example:
              pushfarm pause demo --reason "the text is wrong"
              pushfarm pause order-4711
              pushfarm pause --job demo --app demo
              pushfarm pause demo --shard 7
              pushfarm pause all
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var subject: SubjectOptions

    @Option(help: ArgumentHelp("Why; it is shown by status.", valueName: "text"))
    var reason: String?

    func validate() throws { try subject.check() }

    func run() throws {
        let (configuration, options) = (try common.load(), subject)
        let console = Console(json: common.json)
        let reason = try reason.map { try OperatorText.line($0) } ?? ""
        let report = try Loop.run { @Loop in
            var report = ChangeReport(command: "pause", isDryRun: options.dryRun)
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            let subject = try await Subject.find(
                options.name, job: options.job, app: options.app, client)
            switch subject {
            case .apps(let apps):
                for app in apps {
                    report.lines.append(
                        try await options.shard == nil
                            ? Self.pause(app, reason, options, client)
                            : Self.hold(app, shard: options.shard ?? 0, reason, options, client))
                }
                report.note = try await JobNote.text(options.name, apps, client, verb: "pause")
            case .job(let job, let app):
                report.lines.append(
                    try await JobHold(client: client, isDryRun: options.dryRun).hold(
                        job, app, .pause, reason: reason))
            }
            try await report.tellHosts(["pause"] + options.words, client, console)
            return report
        }
        report.show(console)
        try report.check()
    }

    @Loop private static func pause(
        _ app: String, _ reason: String, _ options: SubjectOptions, _ client: FarmClient
    ) async throws(CommandFailure) -> ChangeReport.Line {
        let by = OperatorName.current
        let standing = try await client.call(ReadStanding(), app)
        var changed = standing.pause?.by == nil
        if changed, !options.dryRun {
            let text = "by operator \(by)" + (reason.isEmpty ? "" : ": \(reason)")
            changed = try await client.call(Pause(reason: text, by: by), app)
        }
        let now = try await client.call(ReadStanding(), app).pause
        return ChangeReport.Line(
            app: app, changed: changed,
            text: changed ? "is paused" : "was paused already, \(now?.reason ?? "")",
            more: [.init(name: "reason", value: .text(now?.reason))])
    }

    @Loop private static func hold(
        _ app: String, shard: Int, _ reason: String, _ options: SubjectOptions, _ client: FarmClient
    ) async throws(CommandFailure) -> ChangeReport.Line {
        try await ShardHold(client: client, isDryRun: options.dryRun).hold(app, shard, .pause, reason: reason)
    }
}

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
}

/// A text of an operator's, as it goes into Redis and into reports: one line.
enum OperatorText {
    static func line(_ text: String) throws(CommandFailure) -> String {
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }), text.utf8.count <= 500
        else { throw .usage("--reason is one line of at most 500 bytes") }
        return text
    }
}

/// Says how to mean the job when a name was taken for an app.
enum JobNote {
    @Loop static func text(
        _ name: String?, _ apps: [String], _ client: FarmClient, verb: String
    ) async throws(CommandFailure) -> String? {
        guard let name, apps == [name] else { return nil }
        for app in try await client.apps() where try await client.account(name, app) != nil {
            return "There is a job \(name) as well: pushfarm \(verb) --job \(name) --app \(app)"
        }
        return nil
    }
}
