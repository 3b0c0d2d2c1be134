import ArgumentParser
import ControlChannel
import EventLoop

struct DrainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain",
        abstract: "Drains a host or a worker.",
        discussion: """
            It takes nothing more, finishes what is in the air, and gives its shards to the
            other hosts, or to the host's other workers. It stays, empty: reload brings a
            host back, restart a worker. Status 3 when it is not empty in time.

            Example:
              pushfarm drain alpha
              pushfarm drain alpha --and-exit
              pushfarm drain alpha/1
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(help: ArgumentHelp("The host, or HOST/N for one of its workers.", valueName: "host[/worker]"))
    var target: OperatorTarget

    @Flag(help: "Then the coordinator, or the worker, ends.")
    var andExit = false

    func run() throws {
        try common.operate(andExit ? .stop : .drain, target.words, on: target.host, operation)
    }
}
