import ArgumentParser
import EventLoop
import RedisClient
import StoreProtocol

struct PauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pauses an app, a job or all apps; no push is lost.",
        discussion: """
            Nothing new is sent anywhere in the farm from now on; what is on its way is
            awaited, and what workers have in hand goes back into the queue. Jobs are still
            taken in. It stays so, through restarts and new credentials, until it is
            resumed.

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

    func run() throws {
        let (reason, isDryRun) = (try OperatorText.line(reason), subject.dryRun)
        try subject.change("pause", common) { target, client throws(CommandFailure) in
            switch target {
            case .app(let app):
                try await AppHold(client: client, isDryRun: isDryRun).hold(app, .pause, reason: reason)
            case .shard(let shard, let app):
                try await ShardHold(client: client, isDryRun: isDryRun)
                    .hold(app, shard, .pause, reason: reason)
            case .job(let job, let app):
                try await JobHold(client: client, isDryRun: isDryRun).hold(job, app, .pause, reason: reason)
            }
        }
    }
}
