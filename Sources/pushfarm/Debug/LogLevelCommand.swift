import ArgumentParser
import ControlChannel
import EventLoop

struct LogLevelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log-level",
        abstract: "Changes the log level.",
        discussion: """
            For the coordinator, its workers and its intake, until they exit.

            Example:
              pushfarm debug log-level debug alpha
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(
        help: ArgumentHelp("trace, debug, info, notice, warning, error or critical.", valueName: "level"))
    var level: String

    @Argument(help: ArgumentHelp("The host, or all.", valueName: "host"))
    var host: String

    func run() throws {
        try common.operate(.logLevel, [level], on: operation.hosts(host), operation)
    }
}
