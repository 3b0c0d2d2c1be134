import ArgumentParser
import ControlChannel
import EventLoop

struct PurgeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Stops workers whose coordinator is gone.",
        discussion: """
            Such a worker exits by itself within seconds, unless a signal or a debugger
            has stopped it. Its batches are already back in the queues.

            Example:
              pushfarm debug purge alpha
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(help: ArgumentHelp("The host, or all.", valueName: "host"))
    var host: String

    func run() throws {
        try common.operate(.purge, on: operation.hosts(host), operation)
    }
}
