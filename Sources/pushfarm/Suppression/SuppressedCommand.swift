import ArgumentParser

struct SuppressedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "suppressed",
        abstract: "Shows and changes the suppression list.",
        discussion: """
            A token that the gateway declared dead is not sent to again for a while:
            its pushes fail with the reason suppressed. What is known belongs to one
            topic in one environment.

            Example:
              pushfarm suppressed list --app demo
              pushfarm suppressed remove --app demo --token $TOKEN
              pushfarm suppressed export --app demo --file dead.txt
            """,
        subcommands: [
            SuppressedListCommand.self, SuppressedAddCommand.self, SuppressedRemoveCommand.self,
            SuppressedImportCommand.self, SuppressedExportCommand.self, SuppressedConfirmCommand.self,
            SuppressedDiscardCommand.self,
        ])
}
