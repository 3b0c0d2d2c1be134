import ArgumentParser
import ControlChannel
import EventLoop

struct ReloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Reloads configuration and credentials.",
        discussion: """
            As the signal HUP. The whole configuration is checked first: a mistake changes
            nothing, and the answer names it. Connections with old credentials are replaced
            as they empty. A drained host takes part again.

            Example:
              pushfarm reload
              pushfarm reload alpha --dry-run
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(help: ArgumentHelp("Only this host; all without it.", valueName: "host"))
    var host: String?

    func run() throws {
        try common.operate(.reload, on: host == "all" ? nil : host, operation)
    }
}
