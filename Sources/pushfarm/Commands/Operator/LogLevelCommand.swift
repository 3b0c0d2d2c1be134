import ArgumentParser
import ControlChannel
import EventLoop

struct LogLevelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log-level",
        abstract: "Changes the log level.",
        discussion: """
            Of the coordinator, its workers and its intake, until they end.

            Example:
              pushfarm log-level debug --host alpha
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(
        help: ArgumentHelp("trace, debug, info, notice, warning, error or critical.", valueName: "level"))
    var level: String

    @Option(help: ArgumentHelp("Only this host; all without it.", valueName: "name"))
    var host: String?

    func run() throws {
        try common.operate(.logLevel, [level], on: host, operation)
    }
}
