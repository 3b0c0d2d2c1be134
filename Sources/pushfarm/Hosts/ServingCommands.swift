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
