import ArgumentParser
import ControlChannel
import EventLoop

struct PurgeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Stops workers whose coordinator is gone.",
        discussion: """
            Such a worker ends by itself within seconds, unless a user has stopped it
            with a signal or a debugger. What it had is taken back already.

            Example:
              pushfarm purge alpha
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(help: ArgumentHelp("Only this host; all without it.", valueName: "host"))
    var host: String?

    func run() throws {
        try common.operate(.purge, on: host, operation)
    }
}
