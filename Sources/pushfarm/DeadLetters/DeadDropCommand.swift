import ArgumentParser
import EventLoop

struct DeadDropCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Deletes dead letters.",
        discussion: """
            Example:
              pushfarm dead drop --reason BadTopic --dry-run
              pushfarm dead drop 1780000000123-0
              pushfarm dead drop --all --app demo
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var selection: DeadLetterOptions

    @Argument(help: "Ids, as dead list --letters names them.")
    var ids: [String] = []

    @Flag(help: "All of them.")
    var all = false

    @Option(reads: ArgumentHelp("So many pushes; letters go whole.", valueName: "count"))
    var limit: Int?

    @Flag(help: "Says what would be done, and does nothing.")
    var dryRun = false

    func validate() throws {
        guard all != (!selection.isEverything || !ids.isEmpty) else {
            throw ValidationError("Say what: ids, --job, --reason or --since; or --all.")
        }
        if let limit, limit < 1 { throw ValidationError("--limit is at least 1.") }
    }

    func run() throws {
        var settings = ReplayAct.Settings(
            name: JobDraft.freshID(), filter: try selection.filter(ids: ids),
            words: ["dead", "drop"] + ids + (all ? ["--all"] : []) + selection.words, limit: limit)
        (settings.isDropping, settings.isDry, settings.life) = (true, dryRun, 3600)
        let run = ReplayRun(
            configuration: try common.load(), app: selection.app, settings: settings,
            console: Console(json: common.json))
        try Loop.run { @Loop in try await run.perform() }
    }
}
