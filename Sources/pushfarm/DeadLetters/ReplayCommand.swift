import ArgumentParser
import EventLoop

struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Replays dead letters as new jobs.",
        discussion: """
            The failed pushes of a job OLD become a new job OLD.r1 (the next time OLD.r2),
            whose record says replay_of. The same step deletes the dead letter, so it is
            sent once. An interrupted replay continues when it is given the same --id.

            Three kinds of pushes are skipped: expired ones (--ttl gives them a new time to
            live), those that were to be sent at most once and may have been delivered
            (--even-unknown), and those that crashed workers (--reason poison).

            Example:
              pushfarm replay --job order-4711
              pushfarm replay 1780000000123-0
              pushfarm replay --reason TopicDisallowed --since 2h --dry-run
              pushfarm replay --reason exhausted --rate 500 --id outage-12-may

            Status 3 when it was interrupted or pushes were skipped.
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var selection: DeadLetterOptions
    @OptionGroup var options: ReplayOptions

    @Argument(help: "Ids, as dead list --letters names them.")
    var ids: [String] = []

    func validate() throws {
        guard !selection.isEverything || !ids.isEmpty else {
            throw ValidationError("Name ids, --job, --reason or --since.")
        }
    }

    func run() throws {
        let run = ReplayRun(
            configuration: try common.load(), app: selection.app,
            settings: options.settings(try selection.filter(ids: ids), selected: ids + selection.words),
            console: Console(json: common.json))
        try Loop.run { @Loop in try await run.perform() }
    }
}
