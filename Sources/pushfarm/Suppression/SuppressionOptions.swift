import ArgumentParser
import FarmConfiguration
import PushModel

/// Which app, and which of its topics and environments.
struct SuppressionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The app. Not needed when only one is configured.", valueName: "name"),
        completion: .apps)
    var app: String?

    @Option(
        help: ArgumentHelp(
            "The topic; - is none. To list, remove and export: all, without it.", valueName: "topic"))
    var topic: String?

    @Option(
        help: ArgumentHelp(
            "production, sandbox, or a gateway's host:port. To list, remove and export: all, without it.",
            valueName: "name"))
    var environment: String?

    func validate() throws {
        for (name, value) in [("--topic", topic), ("--environment", environment)] {
            guard let value, value.isEmpty || value.contains(where: \.isWhitespace) else { continue }
            throw ValidationError("\(name) is one word; this is \"\(value.prefix(64))\".")
        }
    }

    private var scopeTopic: String? { topic == "-" ? "" : topic }

    /// Whether a line is one of those that were asked for.
    func covers(_ line: SuppressionLine) -> Bool {
        (scopeTopic ?? line.scope.topic) == line.scope.topic
            && (environment ?? line.scope.environment) == line.scope.environment
    }

    /// What lines without these words mean.
    func defaults(_ app: AppConfiguration?, now: Int64) -> SuppressionLine.Defaults {
        SuppressionLine.Defaults(
            time: now, topic: scopeTopic ?? app?.topic, environment: environment ?? app?.gatewayEnvironment)
    }
}

/// Tokens on the command line.
struct TokenOptions: ParsableArguments {
    @Option(
        name: .customLong("token"), parsing: .upToNextOption,
        help: ArgumentHelp("Device tokens, as hex.", valueName: "hex"))
    var tokens: [String] = []

    @Option(help: ArgumentHelp("A file with one token a line; - is standard input.", valueName: "file"))
    var tokensFile: String?

    var isEmpty: Bool { tokens.isEmpty && tokensFile == nil }

    /// Tokens as the caller wrote them.
    static func bytes(of tokens: [String]) throws(CommandFailure) -> Set<[UInt8]> {
        var all: Set<[UInt8]> = []
        for text in tokens {
            do { all.insert(try DeviceToken.bytes(of: text)) } catch {
                throw .usage("\(text.prefix(64)): \(error)")
            }
        }
        return all
    }
}
