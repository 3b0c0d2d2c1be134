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
        try ChangeReport.make("resume", isDryRun: options.dryRun, configuration, Console(json: common.json)) {
            report, client in
            let isDryRun = report.isDryRun
            switch try await options.find(client) {
            case .apps(let apps):
                for app in apps {
                    if let shard = options.shard {
                        let hold = ShardHold(client: client, isDryRun: isDryRun)
                        report.lines.append(try await hold.serve(app, shard))
                    } else {
                        let hold = AppHold(client: client, isDryRun: isDryRun)
                        report.lines.append(try await hold.resume(app))
                    }
                }
                report.note = try await options.note(apps, "resume", client)
            case .job(let job, let app):
                let hold = JobHold(client: client, isDryRun: isDryRun)
                report.lines.append(try await hold.release(job, app, isPause: true))
            }
            if let only = report.lines.first, report.lines.count == 1, only.job == nil {
                report.head = [
                    .init(name: "app", value: .string(only.app)),
                    .init(name: "resumed", value: .bool(only.changed)),
                ]
            }
            return options.words
        }
    }
}
