import ArgumentParser
import EventLoop
import RedisClient
import StoreProtocol

struct QuarantineShardCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shard",
        abstract: "Pauses a shard.",
        discussion: """
            Example:
              pushfarm quarantine shard 7 --app demo
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var options: QuarantineOptions

    @Argument(reads: "The shard's number.")
    var shard: Int

    @Option(
        help: ArgumentHelp("The app; needed when there are several.", valueName: "name"), completion: .apps)
    var app: String?

    func validate() throws {
        guard (0...9999).contains(shard) else { throw ValidationError("A shard has a number from 0 on.") }
    }

    func run() throws {
        let (configuration, shard) = (try common.load(), shard)
        let (reason, dryRun, app) = (try options.line(), options.dryRun, app)
        try ChangeReport.make("quarantine", isDryRun: dryRun, configuration, Console(json: common.json)) {
            report, client in
            let app = try await client.chosenApp(app)
            try await client.mustHave(app: app)
            let hold = ShardHold(client: client, isDryRun: dryRun)
            report.lines = [try await hold.hold(app, shard, .quarantine, reason: reason)]
            return ["shard", "\(shard)", "--app=" + app]
        }
    }
}
