import ArgumentParser
import ControlChannel
import EventLoop

struct ScaleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scale",
        abstract: "Changes the number of workers.",
        discussion: """
            A new worker gets shards when it is ready; one that leaves hands its shards
            over first. No push is lost or sent twice. auto turns the autoscaler on. The
            number is stored in Redis and overrides the configuration, after a restart too;
            default removes it. +0 fixes the number of workers that run now.

            Example:
              pushfarm scale 4 all
              pushfarm scale +1 alpha
              pushfarm scale -1 alpha
              pushfarm scale auto all
              pushfarm scale default all
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(
        help: ArgumentHelp(
            "N, +N, -N, auto, or default for what is configured.", valueName: "workers"))
    var workers: String

    @Argument(help: ArgumentHelp("The host, or all.", valueName: "host"))
    var host: String

    func run() throws {
        try common.operate(
            .scale, [workers], on: operation.hosts(host), operation, defaultTimeout: .seconds(120))
    }
}

struct ReloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Reloads configuration and credentials.",
        discussion: """
            The same as the signal HUP. The configuration is checked first: when it has a
            mistake, nothing changes, and the answer names it. Connections with the old
            credentials close when they are idle. Ends a drain.

            Example:
              pushfarm reload all
              pushfarm reload alpha --dry-run
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(help: ArgumentHelp("The host, or all.", valueName: "host"))
    var host: String

    func run() throws {
        try common.operate(.reload, on: operation.hosts(host), operation)
    }
}

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
            .upgrade, abort ? ["--abort"] : [], on: operation.hosts(host), operation,
            defaultTimeout: .seconds(300), oneByOne: true)
    }
}

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

    @OptionGroup var options: TargetOptions

    func run() throws { try options.operate(.quiet) }
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

    @OptionGroup var options: TargetOptions

    @Flag(help: "Then stop the coordinator, or the worker.")
    var andExit = false

    func run() throws {
        try options.operate(andExit ? .stop : .drain, andExit ? ["--and-exit"] : [])
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

    @OptionGroup var options: TargetOptions

    func run() throws { try options.operate(.stop) }
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
            defaultTimeout: .seconds(600), oneByOne: rolling)
    }
}
