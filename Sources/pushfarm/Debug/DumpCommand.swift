import ArgumentParser
import ControlChannel
import EventLoop

struct DumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Writes the state of processes to their log.",
        discussion: """
            Leases, windows and connections of the coordinator and its workers, or of one
            worker: as the signal USR2 for a worker.

            Example:
              pushfarm debug dump alpha
              pushfarm debug dump alpha/0
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(help: ArgumentHelp("The host, or HOST/N for one of its workers.", valueName: "host[/worker]"))
    var target: OperatorTarget

    func run() throws {
        try common.operate(.dump, target.words, on: target.host, operation)
    }
}
