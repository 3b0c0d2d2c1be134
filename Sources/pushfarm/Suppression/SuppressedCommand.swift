import ArgumentParser

struct SuppressedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "suppressed",
        abstract: "Shows and changes the suppression list.",
        discussion: """
            No push is sent to a token that the gateway declared invalid, for a time:
            its pushes fail with the reason suppressed. What is known belongs to one
            topic in one environment.

            Example:
              pushfarm suppressed list --app demo
              pushfarm suppressed remove --app demo --token $TOKEN
              pushfarm suppressed export --app demo --file invalid.txt
            """,
        subcommands: [
            SuppressedListCommand.self, SuppressedAddCommand.self, SuppressedRemoveCommand.self,
            SuppressedImportCommand.self, SuppressedExportCommand.self, SuppressedConfirmCommand.self,
            SuppressedDiscardCommand.self,
        ])
}
