import ArgumentParser

struct QuarantineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine",
        abstract: "Pauses jobs, apps, shards or tokens; no push is lost.",
        discussion: """
            What is put aside waits until it is released; who did it, when and why is kept.

            Example:
              pushfarm quarantine job order-4711 --reason "crashes the app"
              pushfarm quarantine app demo
              pushfarm quarantine shard 7 --app demo
              pushfarm quarantine token 00fc13adff78… --app demo
              pushfarm quarantine list
            """,
        subcommands: [
            QuarantineJobCommand.self, QuarantineAppCommand.self, QuarantineShardCommand.self,
            QuarantineTokenCommand.self, QuarantineListCommand.self,
        ])
}

/// What all quarantines take.
struct QuarantineOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Why; it is kept and shown.", valueName: "text"))
    var reason: String?

    @Flag(help: "Says what would be done, and changes nothing.")
    var dryRun = false

    func line() throws(CommandFailure) -> String { try OperatorText.line(reason) }
}
