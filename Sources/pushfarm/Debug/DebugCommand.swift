import ArgumentParser

struct DebugCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "debug",
        abstract: "Troubleshooting: processes, leases, accounting.",
        discussion: """
            Example:
              pushfarm debug fsck --app demo
              pushfarm debug kill alpha/0
            """,
        subcommands: [
            FsckCommand.self, FeedbackCommand.self, DumpCommand.self, LogLevelCommand.self, KillCommand.self,
            PurgeCommand.self, TakeoverCommand.self,
        ])
}
