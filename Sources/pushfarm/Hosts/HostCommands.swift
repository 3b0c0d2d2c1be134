import ArgumentParser
import ControlChannel
import EventLoop

struct ScaleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scale",
        abstract: "Changes the number of workers.",
        discussion: """
            A new worker gets shards when it is ready. A surplus worker hands over its
            shards before it stops. No push is lost or sent twice. auto turns the
            autoscaler on. The number is stored in Redis and overrides the configuration,
            also after a restart. default removes this number from Redis. +0 stores the
            number of workers that run now.

            Example:
              pushfarm scale 4 all
              pushfarm scale +1 alpha
              pushfarm scale -1 alpha
              pushfarm scale auto all
              pushfarm scale default all
            """)

    @Argument(
        help: ArgumentHelp(
            "N, +N, -N, auto, or default for the configured number.", valueName: "workers"))
    var workers: String

    @OptionGroup var options: HostOptions

    func run() throws {
        try options.operate(.scale, [workers], defaultTimeout: .seconds(120))
    }
}

struct ReloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Reloads configuration and credentials.",
        discussion: """
            Does the same as the signal HUP. Checks the configuration first: if it has an
            error, nothing changes, and the reply names the error. Connections with the old
            credentials close when they are idle. reload also ends a drain.

            Example:
              pushfarm reload all
              pushfarm reload alpha --dry-run
            """)

    @OptionGroup var options: HostOptions

    func run() throws { try options.operate(.reload) }
}

struct UpgradeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upgrade",
        abstract: "Replaces a running coordinator with a new program.",
        discussion: """
            Starts the installed program, or the program of the configuration's key
            program, as the successor of the running coordinator. The successor gets the
            shards a few at a time, without pushes in flight, and at last the host's name.
            Then the predecessor exits. Hosts are upgraded one after the other. If the
            successor fails, the predecessor continues. Do not use upgrade in a container
            or under supervisord, foreman or pushfarm up, where the exit of the first
            process ends the service. Restart the service instead.

            Example:
              pushfarm upgrade all
              pushfarm upgrade alpha --abort
            """)

    @OptionGroup var options: HostOptions

    @Flag(help: "Aborts a running upgrade.")
    var abort = false

    func run() throws {
        try options.operate(
            .upgrade, abort ? ["--abort"] : [], defaultTimeout: .seconds(300), oneByOne: true)
    }
}

struct QuietCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quiet",
        abstract: "Stops new work for a host or a worker.",
        discussion: """
            The workers finish the pushes in flight. The shards go to the other hosts, or
            to the host's other workers. If no other host or worker can serve the shards,
            their pushes stay queued, and pushfarm status says so. resume and scale end
            quiet.

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
            The host or worker takes no new work, finishes the pushes in flight, and hands
            over its shards to the other hosts, or to the host's other workers. The process
            keeps running. To end the drain, use pushfarm resume for a host, and pushfarm
            restart for a worker. Status 3 when the drain did not finish in time.

            Example:
              pushfarm drain alpha
              pushfarm drain alpha --and-exit
              pushfarm drain alpha/1
            """)

    @OptionGroup var options: TargetOptions

    @Flag(help: "Stops the coordinator, or the worker, after the drain.")
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
            Does the same as the signal TERM: the coordinator or worker takes no new work,
            finishes the pushes in flight, hands over its shards, and exits with status 0.
            The reply comes when the workers have exited. restart or scale starts a stopped
            worker again.

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
            time, on one host at a time. The other workers serve its shards meanwhile. The
            next worker restarts when the last restarted worker delivers again. If a worker
            does not become ready, the remaining workers are not restarted.

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

    @Flag(help: "Restarts one worker at a time.")
    var rolling = false

    func run() throws {
        let isAll = target.text == "all"
        try common.operate(
            .restart, target.words + (rolling ? ["--rolling"] : []), on: isAll ? nil : target.host, operation,
            defaultTimeout: .seconds(600), oneByOne: rolling)
    }
}
