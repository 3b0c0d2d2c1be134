import ArgumentParser
import ControlChannel
import EventLoop

struct UpgradeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upgrade",
        abstract: "Replaces a running coordinator with a new program.",
        discussion: """
            Starts the installed program, or the one that the configuration names
            (program), beside the old one. The successor gets the shards a few at a time,
            each when none of its pushes is in flight, and at the end the host's name; then
            the predecessor exits. Hosts follow one after the other. When the successor
            does not start, or exits, the predecessor continues. Not in a container or
            under supervisord, foreman or pushfarm up, where the exit of the first process
            ends the service: restart the service instead.

            Example:
              pushfarm upgrade all
              pushfarm upgrade alpha --abort
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(help: ArgumentHelp("The host, or all.", valueName: "host"))
    var host: String

    @Flag(help: "Aborts a running upgrade.")
    var abort = false

    func run() throws {
        try common.operate(
            .upgrade, abort ? ["--abort"] : [], on: host == "all" ? nil : host, operation,
            patience: .seconds(300),
            oneByOne: true)
    }
}
