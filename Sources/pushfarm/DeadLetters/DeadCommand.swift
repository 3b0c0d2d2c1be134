import ArgumentParser

struct DeadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead",
        abstract: "Shows, exports and deletes dead letters.",
        discussion: """
            A dead letter keeps pushes of one job that failed for one reason although their
            tokens are valid. The setting dead_letters limits their number and age.
            pushfarm replay sends them again.

            Example:
              pushfarm dead list
              pushfarm dead show 1780000000123-0
              pushfarm dead export letters.jsonl --app demo
              pushfarm dead drop --job order-4711
            """,
        subcommands: [
            DeadListCommand.self, DeadShowCommand.self, DeadDropCommand.self,
            DeadExportCommand.self,
        ])
}
