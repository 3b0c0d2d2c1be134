import ArgumentParser
import EventLoop
import RedisClient
import StoreProtocol

struct QuarantineAppCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app",
        abstract: "Pauses an app until you resume it.",
        discussion: """
            Example:
              pushfarm quarantine app demo --reason "the certificate was stolen"
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var options: QuarantineOptions

    @Argument(help: "The app.")
    var app: String

    func run() throws {
        let (configuration, app) = (try common.load(), app)
        let (reason, dryRun) = (try options.line(), options.dryRun)
        try ChangeReport.make("quarantine", isDryRun: dryRun, configuration, Console(json: common.json)) {
            report, client in
            try await client.mustHave(app: app)
            let hold = AppHold(client: client, isDryRun: dryRun)
            report.lines = [try await hold.hold(app, .quarantine, reason: reason)]
            return ["app", app]
        }
    }
}
