import ArgumentParser
import ControlChannel
import EventLoop

struct ScaleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scale",
        abstract: "Changes the number of workers.",
        discussion: """
            A new worker gets shards when it is ready. A surplus worker hands over its
            shards before it stops. No push is lost or sent twice.

            The number is stored in Redis and overrides the configuration, also after a
            restart. The word "default" removes this number from Redis. The word "auto"
            turns the autoscaler on, which chooses the number of workers. The value +0
            stores the number of workers that run now.

            Example:
              pushfarm scale 4 all
              pushfarm scale +1 alpha
              pushfarm scale -1 alpha
              pushfarm scale auto all
              pushfarm scale default all
            """)

    @Argument(
        help: ArgumentHelp(
            "The number N of workers, a change +N or -N, \"auto\", or \"default\" for the configured number.",
            valueName: "workers"))
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
            The coordinator first checks its configuration. If the configuration has an
            error, nothing changes, and the reply names the error. Connections with the old
            credentials close when they are idle. A reload also ends a drain of the host.
            The signal HUP to the coordinator has the same effect.

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
            The running coordinator starts its successor: the installed program, or the
            program that the key "program" of the configuration names. The successor gets
            the shards a few at a time, each when none of its pushes is in flight, and at
            last the host's name. Then the old coordinator exits. If the successor fails,
            the old coordinator continues. Several hosts are upgraded one after the other.

            Do not use this command in a container or under supervisord, foreman or
            "pushfarm up", because there the exit of the first process ends the service.
            Restart the service instead.

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
            A quiet host or worker takes no new work, and finishes the pushes in flight.
            Its shards go to other hosts, or to the host's other workers. If no other host
            or worker can serve the shards, their pushes stay queued, and "pushfarm status"
            reports this. The commands "pushfarm resume" and "pushfarm scale" end the quiet
            state.

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
        abstract: "Moves all shards away from a host or a worker.",
        discussion: """
            The host or worker takes no new work, finishes the pushes in flight, and hands
            over its shards to the other hosts, or to the host's other workers. Without
            --and-exit, the process keeps running. The command "pushfarm resume" ends the
            drain of a host, and "pushfarm restart" ends the drain of a worker.

            The exit status is 3 when the drain did not finish in time.

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
            The coordinator or worker takes no new work, finishes the pushes in flight,
            hands over its shards, and exits with status 0. The signal TERM has the same
            effect on a coordinator. The reply comes when the workers have exited. The
            commands "pushfarm restart" and "pushfarm scale" start a stopped worker again.

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
            Each worker finishes its pushes in flight before it exits. With --rolling, the
            command restarts one worker at a time, on one host at a time. The other workers
            serve the shards of this worker until it is ready again. The next worker
            restarts when the restarted worker delivers again. If a worker does not become
            ready, the remaining workers are not restarted.

            Example:
              pushfarm restart all --rolling
              pushfarm restart alpha
              pushfarm restart alpha/1
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(
        help: ArgumentHelp(
            "The host, HOST/N for one of its workers, or \"all\" for all hosts.", valueName: "host[/worker]"))
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
