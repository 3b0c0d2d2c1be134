import ArgumentParser
import ControlChannel
import EventLoop

struct KillCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kill",
        abstract: "Kills a worker's process.",
        discussion: """
            For one that hangs or must not go on. Another one takes its place; what it had
            in the air may be sent twice, and is counted as such. Nothing is held against
            the pushes.

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
