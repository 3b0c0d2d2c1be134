import ArgumentParser
import ControlChannel
import EventLoop

struct KillCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kill",
        abstract: "Kills a worker's process.",
        discussion: """
            For a worker that hangs or must stop at once. Another worker takes its place;
            its pushes in flight may be sent twice, and the job records count them. The
            kill makes no push suspect.

            Example:
              pushfarm debug kill alpha/0
              pushfarm debug kill alpha/0 --abrt
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(help: ArgumentHelp("The worker.", valueName: "host[/worker]"))
    var target: OperatorTarget

    @Flag(help: "SIGABRT first: the system writes a core, if it is set up to.")
    var abrt = false

    func validate() throws {
        if target.worker == nil { throw ValidationError("which worker? as in \(target.host)/0") }
    }

    func run() throws {
        try common.operate(.kill, target.words + (abrt ? ["--abrt"] : []), on: target.host, operation)
    }
}
