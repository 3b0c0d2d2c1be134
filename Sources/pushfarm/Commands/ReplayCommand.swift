import ArgumentParser
import EventLoop

struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Replays dead letters as new jobs.",
        discussion: """
            What failed in a job OLD goes into the inbox as a job OLD.r1 (the next time
            OLD.r2 ...), whose account says replay_of; the old account stays as it is.
            Each letter leaves the dead letters in the same step, so it is sent once,
            whatever happens meanwhile; interrupted, it goes on with the same --id.

            Left alone is what is worth nothing any more (--ttl gives it a new time),
            what was to be sent at most once and may have been delivered
            (--even-unknown), and what ended workers (--reason poison).

            Example:
              pushfarm replay --job order-4711
              pushfarm replay --reason TopicDisallowed --since 2h --dry-run
              pushfarm replay --reason exhausted --rate 500 --id outage-12-may

            Status 3 when it was interrupted or some were left alone.
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var selection: DeadLetterOptions
    @OptionGroup var options: ReplayOptions

    func validate() throws {
        guard !selection.isEverything else {
            throw ValidationError("Say what: --job, --reason or --since.")
        }
    }

    func run() throws {
        let run = ReplayRun(
            configuration: try common.load(), app: selection.app,
            settings: options.settings(try selection.filter()), console: Console(json: common.json))
        try Loop.run { @Loop in try await run.perform() }
    }
}
