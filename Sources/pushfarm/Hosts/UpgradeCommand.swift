import ArgumentParser
import ControlChannel
import EventLoop

struct UpgradeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upgrade",
        abstract: "Replaces a running coordinator with a new program.",
        discussion: """
            The program that is installed now, or that the host's configuration names
            (program), is started beside the old one. It gets the shards a few at a time,
            each when nothing of it is in the air, and the host's name at the end; then the
            old one ends. One host after the other. When the new one does not start, or
            ends, the old one goes on. Not in a container, under supervisord, foreman or
            pushfarm up: there the first process's end is the service's; restart the
            service instead.

            Example:
              pushfarm upgrade all
              pushfarm upgrade alpha --abort
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(help: ArgumentHelp("The host, or all.", valueName: "host"))
    var host: String

    @Flag(help: "Take back an upgrade that is under way.")
    var abort = false

    func run() throws {
        try common.operate(
            .upgrade, abort ? ["--abort"] : [], on: host == "all" ? nil : host, operation,
            patience: .seconds(300),
            oneByOne: true)
    }
}
