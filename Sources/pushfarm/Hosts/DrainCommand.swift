import ArgumentParser
import ControlChannel
import EventLoop

struct DrainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain",
        abstract: "Drains a host or a worker.",
        discussion: """
            It takes no new work, finishes the pushes in flight, and hands its shards over
            to the other hosts, or to the host's other workers. The process keeps running:
            resume ends the drain of a host, restart that of a worker. Status 3 when it is
            not drained in time.

            Example:
              pushfarm drain alpha
              pushfarm drain alpha --and-exit
              pushfarm drain alpha/1
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(help: ArgumentHelp("The host, or HOST/N for one of its workers.", valueName: "host[/worker]"))
    var target: OperatorTarget

    @Flag(help: "Then stop the coordinator, or the worker.")
    var andExit = false

    func run() throws {
        try common.operate(
            andExit ? .stop : .drain, target.words + (andExit ? ["--and-exit"] : []), on: target.host,
            operation)
    }
}
