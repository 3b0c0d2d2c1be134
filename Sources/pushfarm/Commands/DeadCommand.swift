import ArgumentParser

struct DeadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead",
        abstract: "Shows, replays, exports and deletes dead letters.",
        discussion: """
            A push that failed permanently, and not because its token is dead, is kept as a
            dead letter, together with those of its job that failed for the same reason:
            dead: in the configuration says how many, and for how long.

            Example:
              pushfarm dead list
              pushfarm dead show 1780000000123-0
              pushfarm dead retry --reason TopicDisallowed --dry-run
              pushfarm dead export letters.jsonl --app demo
              pushfarm dead drop --job order-4711
            """,
        subcommands: [
            DeadListCommand.self, DeadShowCommand.self, DeadRetryCommand.self, DeadDropCommand.self,
            DeadExportCommand.self,
        ])
}
