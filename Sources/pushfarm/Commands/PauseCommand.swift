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
        let reason = try OperatorText.line(reason)
        try ChangeReport.make("pause", isDryRun: options.dryRun, configuration, Console(json: common.json)) {
            report, client in
            let isDryRun = report.isDryRun
            switch try await options.find(client) {
            case .apps(let apps):
                for app in apps {
                    if let shard = options.shard {
                        let hold = ShardHold(client: client, isDryRun: isDryRun)
                        report.lines.append(try await hold.hold(app, shard, .pause, reason: reason))
                    } else {
                        let hold = AppHold(client: client, isDryRun: isDryRun)
                        report.lines.append(try await hold.hold(app, .pause, reason: reason))
                    }
                }
                report.note = try await options.note(apps, "pause", client)
            case .job(let job, let app):
                let hold = JobHold(client: client, isDryRun: isDryRun)
                report.lines.append(try await hold.hold(job, app, .pause, reason: reason))
            }
            return options.words
        }
    }
}
