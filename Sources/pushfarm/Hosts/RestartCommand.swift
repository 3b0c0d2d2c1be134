import ArgumentParser
import ControlChannel
import EventLoop

struct RestartCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restart",
        abstract: "Restarts workers.",
        discussion: """
            Each worker finishes its pushes in flight. --rolling restarts one worker at a
            time, on one host at a time: the others serve its shards meanwhile, and the
            next worker follows when the last one delivers again. When one does not become
            ready, the others are not restarted.

            Example:
              pushfarm restart all --rolling
              pushfarm restart alpha
              pushfarm restart alpha/1
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(
        help: ArgumentHelp("The host, HOST/N for one of its workers, or all.", valueName: "host[/worker]"))
    var target: OperatorTarget

    @Flag(help: "One worker at a time.")
    var rolling = false

    func run() throws {
        let isAll = target.text == "all"
        try common.operate(
            .restart, target.words + (rolling ? ["--rolling"] : []), on: isAll ? nil : target.host, operation,
            patience: .seconds(600), oneByOne: rolling)
    }
}
