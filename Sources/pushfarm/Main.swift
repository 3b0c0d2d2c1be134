import ArgumentParser
import FarmLogging
import POSIX

/// The entry point of the process. A child of a coordinator branches off first, so that the child starts nothing
/// that only commands need.
@main
enum Main {
    static func main() {
        unblockSignals()
        // A write to a closed pipe or connection (`| head`) must return an error and not kill the process.
        signal(SIGPIPE, SIG_IGN)
        let arguments = CommandLine.arguments.dropFirst()
        if let role = arguments.first.flatMap({ ChildRole(rawValue: $0) }) {
            role.run(Array(arguments.dropFirst()))
        }
        finish(outcome(of: Array(arguments)))
    }

    /// The parent may have started this process from a thread that blocks signals. With blocked signals, this process
    /// would get neither Control-C nor the signal of a child's exit.
    private static func unblockSignals() {
        var none = sigset_t()
        sigemptyset(&none)
        sigprocmask(SIG_SETMASK, &none, nil)
    }

    private static func outcome(of arguments: [String]) -> ExitStatus {
        if let overview = CommandOverview.asked(by: arguments.isEmpty ? ["--help"] : arguments) {
            Terminal.write(overview, to: Terminal.standardOutput)
            return .done
        }
        do {
            if let complaint = CommandWords.problem(arguments) { throw CommandFailure.usage(complaint) }
            var command = try Pushfarm.parseAsRoot(CommandWords.arranged(arguments))
            try command.run()
            return .done
        } catch {
            return ExitStatus(reporting: error)
        }
    }

    private static func finish(_ status: ExitStatus) -> Never {
        exit(status.rawValue)
    }
}
