import ArgumentParser
import ControlChannel
import EventLoop

struct ReloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Reloads configuration and credentials.",
        discussion: """
            The same as the signal HUP. The configuration is checked first: when it has a
            mistake, nothing changes, and the answer names it. Connections with the old
            credentials close when they are idle. Ends a drain.

            Example:
              pushfarm reload all
              pushfarm reload alpha --dry-run
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(help: ArgumentHelp("The host, or all.", valueName: "host"))
    var host: String

    func run() throws {
        try common.operate(.reload, on: operation.hosts(host), operation)
    }
}
