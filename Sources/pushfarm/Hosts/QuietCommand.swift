import ArgumentParser
import ControlChannel
import EventLoop

struct QuietCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quiet",
        abstract: "Stops new work for a host or a worker.",
        discussion: """
            Pushes in flight are finished. The shards go to the other hosts, or to the
            host's other workers. When no other can serve them, their queued pushes wait,
            and pushfarm status says so. resume and scale end quiet.

            Example:
              pushfarm quiet alpha
              pushfarm quiet alpha/0
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(help: ArgumentHelp("The host, or HOST/N for one of its workers.", valueName: "host[/worker]"))
    var target: OperatorTarget

    func run() throws {
        try common.operate(.quiet, target.words, on: target.host, operation)
    }
}
