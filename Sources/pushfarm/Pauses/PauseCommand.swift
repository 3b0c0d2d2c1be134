import ArgumentParser
import EventLoop
import RedisClient
import StoreProtocol

struct PauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pauses an app, a job, a token, a shard or all apps.",
        discussion: """
            No new push is sent, on any host. Workers wait for the responses to the pushes
            in flight and return the rest of their batches to the queue. Producers can
            still submit jobs. No push is lost. The pause outlasts restarts and new
            credentials; it ends with resume.

            A name that fits an app and a job is refused; --app and --job say which one is
            meant. At most 1,000 tokens of an app can be paused.

            Example:
              pushfarm pause demo --reason "the text is wrong"
              pushfarm pause order-4711
              pushfarm pause --job demo --app demo
              pushfarm pause --shard 7 --app demo
              pushfarm pause --token 00fc13adff785122b4ad2880 --app demo
              pushfarm pause all
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var subject: SubjectOptions

    @Option(help: ArgumentHelp("Why; status and paused show it.", valueName: "text"))
    var reason: String?

    func validate() throws {
        if subject.isEmpty { throw ValidationError("Name an app, a job, --token, --shard, or all.") }
    }

    func run() throws {
        let (reason, isDryRun) = (try OperatorText.line(reason), subject.dryRun)
        try subject.change("pause", common) { target, client throws(CommandFailure) in
            switch target {
            case .app(let app):
                try await AppHold(client: client, isDryRun: isDryRun).pause(app, reason: reason)
            case .shard(let shard, let app):
                try await ShardHold(client: client, isDryRun: isDryRun)
                    .pause(app, shard, reason: reason)
            case .job(let job, let app):
                try await JobHold(client: client, isDryRun: isDryRun).pause(job, app, reason: reason)
            case .token(let token, let app):
                try await TokenHold(client: client, isDryRun: isDryRun).pause(token, app, reason: reason)
            }
        }
    }
}
