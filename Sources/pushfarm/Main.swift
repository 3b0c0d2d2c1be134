import ArgumentParser
import FarmLogging
import POSIX

/// The entry point of the process. If the process is a child of a coordinator, the child's code runs first and does not
/// return, so a child starts nothing that only commands need.
@main
enum Main {
    static func main() {
        unblockSignals()
        // A write to a closed pipe or connection, as in `pushfarm … | head`, must return an error and not kill the
        // process.
        signal(SIGPIPE, SIG_IGN)
        let arguments = CommandLine.arguments.dropFirst()
        if let role = arguments.first.flatMap({ ChildRole(rawValue: $0) }) {
            role.run(Array(arguments.dropFirst()))
        }
        finish(outcome(of: Array(arguments)))
    }

    /// Unblocks all signals. A process inherits the blocked signals of the thread that started it. If signals stayed
    /// blocked, this process would get neither the signal of Control-C nor the signal of a child's exit.
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
