import ArgumentParser
import ControlChannel
import EventLoop

struct QuietCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quiet",
        abstract: "Lets a host or a worker take nothing more.",
        discussion: """
            What is in the air is finished; shards and leases stay where they are, so what
            is queued in them waits. One way: a host is quiet until it drains or ends, a
            worker until restart or scale wakes it.

            Example:
              pushfarm quiet alpha
              pushfarm quiet alpha/0
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(help: ArgumentHelp("The host, or HOST/N for one of its workers.", valueName: "host[/worker]"))
    var target: OperatorTarget

    func run() throws {
        try common.operate(.quiet, target.words, on: target.host, operation)
    }
}
