import ArgumentParser
import EventLoop

struct DeadRetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Replays dead letters as new jobs: the same as replay.",
        discussion: """
            Example:
              pushfarm dead retry 1780000000123-0
              pushfarm dead retry --job order-4711 --rate 100
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var selection: DeadLetterOptions
    @OptionGroup var options: ReplayOptions

    @Argument(help: "Ids, as dead list --letters names them.")
    var ids: [String] = []

    func validate() throws {
        guard !selection.isEverything || !ids.isEmpty else {
            throw ValidationError("Say what: ids, --job, --reason or --since.")
        }
    }

    func run() throws {
        let run = ReplayRun(
            configuration: try common.load(), app: selection.app,
            settings: options.settings(try selection.filter(ids: ids)), console: Console(json: common.json))
        try Loop.run { @Loop in try await run.perform() }
    }
}
