import ArgumentParser
import EventLoop
import StoreProtocol

struct RefusedDropCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Deletes refused jobs.",
        discussion: """
            Example:
              pushfarm refused drop 1780000000123-0
              pushfarm refused drop --all --app demo
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Argument(help: "Ids, as refused list names them.")
    var ids: [String] = []

    @Option(help: ArgumentHelp("Only this app's.", valueName: "name"), completion: .apps)
    var app: String?

    @Flag(help: "All of them.")
    var all = false

    @Flag(help: "Says what would be done, and does nothing.")
    var dryRun = false

    func validate() throws {
        guard all != !ids.isEmpty else { throw ValidationError("Say what: ids, or --all.") }
    }

    func run() throws {
        let (ids, app, all, dryRun) = (ids, app, all, dryRun)
        let count = try common.withClient { client in
            var found: [(app: String, id: EntryID)] = []
            for id in ids {
                let (app, job) = try await RefusedJobStore.find(id, app, client)
                found.append((app, job.id))
            }
            for name in all ? try await client.apps(meant: app) : [] {
                var after: EntryID?
                repeat {
                    let page = try await client.call(ReadRefused(.after(after)), name)
                    found += page.map { (name, $0.id) }
                    after = page.last?.id
                } while after != nil
            }
            guard !dryRun else { return found.count }
            for (app, id) in found { try await RefusedJobStore.perform(id, app, nil, client) }
            return found.count
        }
        Console(json: common.json).show(
            .object(["dropped": .number(count), "dry_run": .bool(dryRun)]),
            "\(Figures.grouped(count)) refused jobs \(dryRun ? "would be " : "")dropped\n")
    }
}
