import ArgumentParser
import FarmConfiguration
import FarmLogging

/// The exit status of a command. Stable.
enum ExitStatus: Int32 {
    case done = 0
    /// Failed, or degraded: the command did its work and the answer is not good.
    case failed = 1
    /// The command line or the configuration is wrong; trying again will not help.
    case usage = 2
    /// Not in time, not everywhere, or only a part of it.
    case partly = 3
    /// Redis or the gateway cannot be reached; trying again may help.
    case temporary = 75

    /// Prints what there is to print about `error`, and chooses the status.
    init(reporting error: any Error) {
        switch error {
        case let error as ConfigurationError:
            Terminal.write("pushfarm: \(error)\n", to: Terminal.standardError)
            self = .usage
        case let error as CommandFailure:
            if !error.message.isEmpty {
                Terminal.write(
                    "pushfarm: \(PlainText.screened(error.message))\n", to: Terminal.standardError)
            }
            self = error.status
        default:
            // Help and version are errors to the parser, too.
            let isOrderly = Pushfarm.exitCode(for: error).isSuccess
            let text = CommandOverview.withReference(Pushfarm.fullMessage(for: error))
            if !text.isEmpty {
                Terminal.write(text + "\n", to: isOrderly ? Terminal.standardOutput : Terminal.standardError)
            }
            self = isOrderly ? .done : Pushfarm.exitCode(for: error) == .validationFailure ? .usage : .failed
        }
    }
}

/// The failure of a command, or a result that is not good.
struct CommandFailure: Error {
    var status: ExitStatus
    /// Empty when everything has been said already.
    var message: String

    static func failed(_ message: String = "") -> CommandFailure {
        CommandFailure(status: .failed, message: message)
    }

    static func usage(_ message: String) -> CommandFailure {
        CommandFailure(status: .usage, message: message)
    }

    static func temporary(_ message: String) -> CommandFailure {
        CommandFailure(status: .temporary, message: message)
    }
}
