import ArgumentParser
import EventLoop
import StoreProtocol

/// The options and the answer of the commands for suppressions that wait to be confirmed.
struct UnconfirmedOptions: ParsableArguments {
    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Option(
        help: ArgumentHelp("The app. Not needed when only one is configured.", valueName: "name"),
        completion: .apps)
    var app: String?

    @Flag(help: "Says what would be done, and does nothing.")
    var dryRun = false

    /// - Parameter done: what happens to a suppression, such as `applied`: the name of the count in `--json`, too.
    func perform(_ step: SettleUnconfirmed.Step, done: String) throws {
        let configuration = try common.load()
        let (app, isDry) = (try configuration.chosenApp(app), dryRun)
        let count = try configuration.withClient { client in
            return try await UnconfirmedRun(client: client, app: app).perform(step, isDry: isDry)
        }
        Console(json: common.json).show(
            .object(["app": .string(app), done: .number(count), "dry_run": .bool(isDry)]),
            "\(app): \(Figures.counted(count, "suppression", "suppressions")) "
                + (isDry ? "would be \(done)\n" : "\(done)\n"))
    }
}
