import ArgumentParser
import EventLoop
import FarmStore

struct SuppressedDiscardCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard",
        abstract: "Drops the suppressions that wait to be confirmed.",
        discussion: """
            These tokens were found bad while more than suppression.hold_share percent
            of the last 1,000 answers were. Pushes to them go out as before; those that
            are found from now on wait as before.

            Example:
              pushfarm suppressed discard --app demo --dry-run
              pushfarm suppressed discard --app demo
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
            return try await UnconfirmedRun(client: client, app: app).perform(.discard, isDry: isDry)
        }
        Console(json: common.json).show(
            .object(["app": .string(app), "dropped": .number(count), "dry_run": .bool(isDry)]),
            "\(app): \(Figures.counted(count, "suppression", "suppressions")) "
                + (isDry ? "would be dropped\n" : "dropped\n"))
    }
}
