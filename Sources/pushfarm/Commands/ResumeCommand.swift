import ArgumentParser
import EventLoop
import FarmStore

struct ResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Lets a paused app or job, or all of them, go on.",
        discussion: """
            An app is paused by an operator; or when the gateway refuses its credentials,
            or when so many of its tokens are bad that they must be of the other
            environment. Its queue is kept. After a refusal it goes on by itself when the
            credential file changes; what an operator has paused does not.

            Example:
              pushfarm resume demo
              pushfarm resume order-4711
              pushfarm resume demo --shard 7
              pushfarm resume all
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var subject: SubjectOptions

    func validate() throws { try subject.check() }

    func run() throws {
        let (configuration, options) = (try common.load(), subject)
        let console = Console(json: common.json)
        let report = try Loop.run { @Loop in
            var report = ChangeReport(command: "resume", isDryRun: options.dryRun)
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            let subject = try await Subject.find(
                options.name, job: options.job, app: options.app, client)
            switch subject {
            case .apps(let apps):
                for app in apps {
                    if let shard = options.shard {
                        report.lines.append(
                            try await ShardHold(client: client, isDryRun: options.dryRun).serve(app, shard))
                    } else {
                        report.lines.append(try await Self.resume(app, options, client))
                    }
                }
                report.note = try await JobNote.text(options.name, apps, client, verb: "resume")
            case .job(let job, let app):
                report.lines.append(
                    try await JobHold(client: client, isDryRun: options.dryRun).release(
                        job, app, isPause: true))
            }
            try await report.tellHosts(["resume"] + options.words, client, console)
            if let only = report.lines.first, report.lines.count == 1, only.job == nil {
                report.head = [
                    .init(name: "app", value: .string(only.app)),
                    .init(name: "resumed", value: .bool(only.changed)),
                ]
            }
            return report
        }
        report.show(console)
        try report.check()
    }

    @Loop private static func resume(
        _ app: String, _ options: SubjectOptions, _ client: FarmClient
    ) async throws(CommandFailure) -> ChangeReport.Line {
        var changed = try await client.call(ReadStanding(), app).pause != nil
        if !options.dryRun { changed = try await client.call(Resume(), app) == .resumed }
        return .init(app: app, changed: changed, text: changed ? "goes on" : "was not paused")
    }
}
