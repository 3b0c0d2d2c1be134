import ArgumentParser
import EventLoop
import StoreProtocol

struct DeadListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Counts dead letters by app, reason and age, or lists them.",
        discussion: """
            Example:
              pushfarm dead list
              pushfarm dead list --letters --reason PayloadTooLarge --limit 20
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var selection: DeadLetterOptions

    @Flag(help: "Names each letter, the oldest first, instead of sums.")
    var letters = false

    @Option(reads: ArgumentHelp("With --letters: so many at most.", valueName: "count"))
    var limit = 100

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit is at least 1.") }
    }

    func run() throws {
        let (filter, app) = (try selection.filter(), selection.app)
        let most = letters ? limit : Int.max
        let (summary, apps) = try common.withClient { client in
            var summary = DeadLetterSummary(now: try await client.clock().components.seconds * 1000)
            var apps: [DeadLetterSummary.App] = []
            for name in try await client.apps(meant: app) {
                let count = try await client.call(CountDeadLetters(), name)
                apps.append(DeadLetterSummary.App(name: name, count: count))
                guard summary.letters.count < most else { break }
                try await DeadLetterStore(client: client, app: name).read(filter) {
                    (letter) throws(CommandFailure) in
                    summary.add(letter, app: name, keeping: most < .max)
                    return summary.letters.count < most
                }
            }
            return (summary, apps)
        }
        let console = Console(json: common.json)
        if letters {
            console.show(
                .object(["dead_letters": .array(summary.letters.map(\.json))]),
                summary.letterTable(console.style))
        } else {
            console.show(summary.json(apps), summary.text(apps, console.style))
        }
    }
}
