import ArgumentParser
import FarmLogging
import Logging

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The process's way in. A coordinator's child leaves it first: nothing that a command needs is started for it.
@main
enum Main {
    static func main() {
        unblockSignals()
        // A peer or a reader that went away (`| head`) shows itself as a failed write.
        signal(SIGPIPE, SIG_IGN)
        let arguments = CommandLine.arguments.dropFirst()
        if let role = arguments.first.flatMap({ ChildRole(rawValue: $0) }) {
            role.run(Array(arguments.dropFirst()))
        }
        finish(outcome(of: Array(arguments)))
    }

    /// A parent may have started us from a thread that blocks signals; we would hear neither Control-C nor the end of
    /// a child.
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
            if let complaint = CommandWords.complaint(arguments) { throw CommandFailure.usage(complaint) }
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
