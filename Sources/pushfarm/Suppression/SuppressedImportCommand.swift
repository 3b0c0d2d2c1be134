import ArgumentParser
import EventLoop
import RedisClient
import StoreProtocol

struct SuppressedImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Imports suppressed tokens from an exported file.",
        discussion: """
            A line has a token and then, optionally: a reason, the time since which the
            token is invalid (Unix seconds, 2026-05-01T10:00:00Z, or 3d for three days
            ago), a topic, an environment. The defaults are Operator, now, and the
            app's own topic and environment. A line that begins with # is a comment.
            The command names unreadable lines by their numbers and imports the others;
            its exit status is then 1.

            Example:
              pushfarm suppressed import --app demo invalid.txt
              cut -d, -f1 invalid.csv | pushfarm suppressed import --app demo -
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var selection: SuppressionOptions

    @Argument(help: "The file; - is standard input.")
    var file: String

    func run() throws {
        let (selection, file, json) = (selection, file, common.json)
        let report = try common.withClient { client in
            let app = try await client.chosenApp(selection.app)
            let store = try await SuppressionStore.open(client, app: app)
            let now = try await client.clock().components.seconds
            var run = SuppressionImport(
                store: store, defaults: selection.defaults(store.settings, now: now), isQuiet: json)
            try await run.take(file: file)
            return try await run.finish()
        }
        try report.show(Console(json: common.json), "imported")
    }
}
