import ArgumentParser
import EventLoop
import PushModel
import StoreProtocol

struct QuarantineTokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Pauses the pushes to one token.",
        discussion: """
            At most 1,000 devices of an app. What is queued for them, and what comes, is
            parked.

            Example:
              pushfarm quarantine token 00fc13adff785122b4ad2880 --app demo
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var options: QuarantineOptions

    @Argument(help: "The device token, as hex.")
    var token: String

    @Option(
        help: ArgumentHelp("The app; needed when there are several.", valueName: "name"), completion: .apps)
    var app: String?

    func run() throws {
        let (configuration, text) = (try common.load(), token)
        let (reason, dryRun, app) = (try options.line(), options.dryRun, app)
        let token = try OperatorText.token(text)
        try ChangeReport.make("quarantine", isDryRun: dryRun, configuration, Console(json: common.json)) {
            report, client in
            let app = try await client.chosenApp(app)
            try await client.mustHave(app: app)
            let shards = try await client.shards()
            let shard = token.withUnsafeBytes { ShardHash.shard(of: $0, shards: shards) }
            var changed = try await !client.marks(.devices, app).contains { $0.name == token }
            if changed, !dryRun {
                let hold = Hold(.device(token, shard: shard), by: OperatorName.current, reason: reason)
                let reply = try await client.call(hold, app)
                if reply.subject == .full {
                    throw CommandFailure.failed("\(app) has 1000 devices in quarantine already")
                }
                changed = reply.hasChanged
            }
            report.lines = [
                .init(
                    app: app, token: text.lowercased(), changed: changed,
                    text: changed ? "is quarantined" : "was quarantined already")
            ]
            // Device tokens are in no record.
            return ["token", "--app=" + app]
        }
    }
}
