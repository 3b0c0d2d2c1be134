import ArgumentParser
import ControlChannel
import EventLoop

struct DebugCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "debug",
        abstract: "Troubleshooting: processes, leases, accounting.",
        discussion: """
            Example:
              pushfarm debug fsck --app demo
              pushfarm debug kill alpha/0
            """,
        subcommands: [
            FsckCommand.self, FeedbackCommand.self, DumpCommand.self, LogLevelCommand.self, KillCommand.self,
            PurgeCommand.self, TakeoverCommand.self,
        ])
}

struct DumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Writes the state of processes to their log.",
        discussion: """
            Writes the leases, windows and connections of a coordinator and its workers, or
            of one worker. The signal USR2 to a worker's process has the same effect for
            this worker.

            Example:
              pushfarm debug dump alpha
              pushfarm debug dump alpha/0
            """)

    @OptionGroup var options: TargetOptions

    func run() throws { try options.operate(.dump) }
}

struct LogLevelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log-level",
        abstract: "Changes the log level.",
        discussion: """
            Sets the log level of a coordinator, its workers and its intake, until the
            coordinator exits.

            Example:
              pushfarm debug log-level debug alpha
            """)

    @Argument(
        help: ArgumentHelp(
            "The log level: trace, debug, info, notice, warning, error or critical.", valueName: "level"))
    var level: String

    @OptionGroup var options: HostOptions

    func run() throws { try options.operate(.logLevel, [level]) }
}

struct KillCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kill",
        abstract: "Kills a worker's process.",
        discussion: """
            Use this command for a worker that hangs or must stop at once. The coordinator
            then starts a new worker. Pushes in flight may be sent twice, and the job
            records count these pushes. The farm does not suspect these pushes of having
            crashed the worker.

            Example:
              pushfarm debug kill alpha/0
              pushfarm debug kill alpha/0 --abrt
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(help: ArgumentHelp("The worker, such as alpha/0.", valueName: "host[/worker]"))
    var target: OperatorTarget

    @Flag(help: "Sends the signal ABRT first, so that the system can write a core file.")
    var abrt = false

    func validate() throws {
        if target.worker == nil { throw ValidationError("Name a worker, as in \(target.host)/0.") }
    }

    func run() throws {
        try common.operate(.kill, target.words + (abrt ? ["--abrt"] : []), on: target.host, operation)
    }
}

struct PurgeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Kills workers whose coordinator has exited.",
        discussion: """
            A worker whose coordinator has exited exits by itself within seconds, unless a
            signal or a debugger has stopped it. This command kills such a worker. The
            worker's batches are already back in the queues. No data is deleted.

            Example:
              pushfarm debug purge alpha
            """)

    @OptionGroup var options: HostOptions

    func run() throws { try options.operate(.purge) }
}
