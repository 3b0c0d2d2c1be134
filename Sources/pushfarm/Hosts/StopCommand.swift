import ArgumentParser
import ControlChannel
import EventLoop

struct StopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Stops a coordinator or a worker gracefully.",
        discussion: """
            As the signal TERM: it takes nothing more, finishes what is in the air, gives
            its shards to the others, and ends with status 0. The answer comes when its
            workers have ended. A worker that was stopped is started by restart or scale.

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
