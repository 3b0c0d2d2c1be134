import ArgumentParser
import ControlChannel
import EventLoop

struct StopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Stops a coordinator or a worker gracefully.",
        discussion: """
            Like the signal TERM: it takes no new work, finishes the pushes in flight,
            hands its shards to the others, and exits with status 0. The reply comes when
            its workers have exited. restart or scale starts a stopped worker again.

            Example:
              pushfarm stop alpha
              pushfarm stop alpha/1
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(help: ArgumentHelp("The host, or HOST/N for one of its workers.", valueName: "host[/worker]"))
    var target: OperatorTarget

    func run() throws {
        try common.operate(.stop, target.words, on: target.host, operation)
    }
}
