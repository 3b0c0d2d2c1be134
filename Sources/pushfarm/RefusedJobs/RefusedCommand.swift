import ArgumentParser

struct RefusedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refused",
        abstract: "Lists, shows, retries and deletes refused jobs.",
        discussion: """
            A job that breaks a rule of the contract is refused whole. The last ten
            thousand or so are kept, each cut at 64 KiB.

            Example:
              pushfarm refused list
              pushfarm refused show 1780000000123-0
              pushfarm refused retry 1780000000123-0 --file corrected.json
              pushfarm refused drop 1780000000123-0
            """,
        subcommands: [
            RefusedListCommand.self, RefusedShowCommand.self, RefusedRetryCommand.self,
            RefusedDropCommand.self,
        ],
        aliases: ["bad"])
}
