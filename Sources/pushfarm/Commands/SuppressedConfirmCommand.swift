import ArgumentParser
import EventLoop
import FarmStore

struct SuppressedConfirmCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confirm",
        abstract: "Suppresses the bad tokens that wait for it.",
        discussion: """
            When more than suppression.hold_share percent of the last 1,000 answers are
            bad tokens, the farm goes on, and new bad tokens are not suppressed until
            they are confirmed, or until fewer are bad. After a confirmation, what is
            found until fewer are bad is suppressed at once.

            Example:
              pushfarm suppressed confirm --app demo --dry-run
              pushfarm suppressed confirm --app demo
            """)

    @OptionGroup var common: CommonOptions

    @Option(
        help: ArgumentHelp("The app. Not needed when only one is configured.", valueName: "name"),
        completion: .apps)
    var app: String?

    @Flag(help: "Says what would be done, and does nothing.")
    var dryRun = false

    func run() throws {
        let configuration = try common.load()
        let (app, isDry) = (try configuration.chosenApp(app), dryRun)
        let count = try Loop.run { @Loop in
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            return try await UnconfirmedRun(client: client, app: app).perform(.confirm, isDry: isDry)
        }
        Console(json: common.json).show(
            .object(["app": .string(app), "applied": .number(count), "dry_run": .bool(isDry)]),
            "\(app): \(Figures.counted(count, "suppression", "suppressions")) "
                + (isDry ? "would be applied\n" : "applied\n"))
    }
}
