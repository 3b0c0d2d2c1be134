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
            The coordinator and its workers, or only one worker, write their leases, windows
            and connections to the log. A worker also does this when it gets the signal
            USR2.

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
            Sets the log level of the coordinator, its workers and its intake. A process
            keeps the new level until it exits.

            Example:
              pushfarm debug log-level debug alpha
            """)

    @Argument(
        help: ArgumentHelp("trace, debug, info, notice, warning, error or critical.", valueName: "level"))
    var level: String

    @OptionGroup var options: HostOptions

    func run() throws { try options.operate(.logLevel, [level]) }
}

struct KillCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kill",
        abstract: "Kills a worker's process.",
        discussion: """
            Use debug kill for a worker that hangs or must stop at once. The coordinator
            starts a new worker. The farm may send pushes in flight twice, and the job
            records count these pushes. No push becomes a suspect because of this command.

            Example:
              pushfarm debug kill alpha/0
              pushfarm debug kill alpha/0 --abrt
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(help: ArgumentHelp("The worker.", valueName: "host[/worker]"))
    var target: OperatorTarget

    @Flag(help: "Sends SIGABRT first, and SIGKILL if the worker still runs after five seconds.")
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
        abstract: "Stops workers whose coordinator has exited.",
        discussion: """
            A worker whose coordinator has exited also exits, within seconds, unless a
            signal or a debugger has stopped the worker. Then use this command. The farm has
            already returned the worker's batches to the queues. The command deletes no
            data.

            Example:
              pushfarm debug purge alpha
            """)

    @OptionGroup var options: HostOptions

    func run() throws { try options.operate(.purge) }
}
