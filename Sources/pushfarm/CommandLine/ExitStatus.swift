import ArgumentParser
import FarmConfiguration
import FarmLogging
import PushModel

/// The exit status of a command. The numbers are stable.
enum ExitStatus: Int32 {
    case done = 0
    /// Failed or degraded: the command did its work and the result is bad.
    case failed = 1
    /// The command line or the configuration is wrong, so a second try cannot help.
    case usage = 2
    /// The work is late, incomplete, or not done on every host.
    case partly = 3
    /// Redis or the gateway is not reachable. A second try may help.
    case temporary = 75

    /// Prints the message of `error`, if it has one, and chooses the status.
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
            // The parser also throws help and version texts as errors.
            let isOrderly = Pushfarm.exitCode(for: error).isSuccess
            var text = Self.withoutDistantName(
                CommandOverview.withReference(Pushfarm.fullMessage(for: error)))
            if !isOrderly { text = UnknownOption.named(in: text, Array(CommandLine.arguments.dropFirst())) }
            if !text.isEmpty {
                Terminal.write(text + "\n", to: isOrderly ? Terminal.standardOutput : Terminal.standardError)
            }
            self = isOrderly ? .done : Pushfarm.exitCode(for: error) == .validationFailure ? .usage : .failed
        }
    }

    /// The parser's message without its suggestion, if the suggested option's name is not similar to the unknown
    /// option. For a name of three letters, the parser even suggests a name in which all three letters are different.
    private static func withoutDistantName(_ message: String) -> String {
        guard let hint = message.firstMatch(of: #/Unknown option '(.+?)'(. Did you mean '(.+?)'\?)/#),
            NearestWord.find(String(hint.1), among: [String(hint.3)]) == nil
        else { return message }
        return message.replacing(hint.2, with: "", maxReplacements: 1)
    }
}

/// The failure of a command, or a bad result.
struct CommandFailure: Error {
    var status: ExitStatus
    /// Empty when the command has already printed everything.
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
