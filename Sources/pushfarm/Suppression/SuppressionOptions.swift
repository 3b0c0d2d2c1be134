import ArgumentParser
import EventLoop
import PushModel

/// Selects an app, and one of its topics and environments.
struct SuppressionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The app. Not needed when only one app is configured.", valueName: "name"),
        completion: .apps)
    var app: String?

    @Option(
        help: ArgumentHelp(
            "The topic; \"-\" means no topic. For \"list\", \"remove\" and \"export\", the default is all topics.",
            valueName: "topic"))
    var topic: String?

    @Option(
        help: ArgumentHelp(
            "The environment: production, sandbox, or a gateway's host:port. For \"list\", \"remove\" and \"export\", the default is all environments.",
            valueName: "name"))
    var environment: String?

    func validate() throws {
        for (name, value) in [("--topic", topic), ("--environment", environment)] {
            guard let value, value.isEmpty || value.contains(where: \.isWhitespace) else { continue }
            throw ValidationError(
                "\(name) must be a single word without spaces; this is \"\(value.prefix(64))\".")
        }
    }

    /// Runs the loop until `body` has ended, with the suppression lists of the chosen app.
    func withStore<Value: Sendable>(
        _ common: CommonOptions, _ body: @escaping @Loop (SuppressionStore) async throws -> Value
    ) throws -> Value {
        try common.withClient { client in
            try await body(try await SuppressionStore.open(client, app: try await client.chosenApp(app)))
        }
    }

    private var scopeTopic: String? { topic == "-" ? "" : topic }

    /// Whether the line has the topic and environment that the options select.
    func covers(_ line: SuppressionLine) -> Bool {
        (scopeTopic ?? line.scope.topic) == line.scope.topic
            && (environment ?? line.scope.environment) == line.scope.environment
    }

    /// The values for words that a line leaves out.
    @Loop func defaults(_ store: SuppressionStore) async throws(CommandFailure) -> SuppressionLine.Defaults {
        SuppressionLine.Defaults(
            time: try await store.client.clock().components.seconds,
            topic: scopeTopic ?? store.settings?.topic,
            environment: environment ?? store.settings?.gatewayEnvironment)
    }
}

/// Tokens on the command line or in a file.
struct TokenOptions: ParsableArguments {
    @OptionGroup var given: TokenListOptions

    func validate() throws {
        guard !given.isEmpty else {
            throw ValidationError("Give the tokens with --token or --tokens-file.")
        }
    }

    /// The tokens of the command line, and the first word of each line of the file.
    func all() throws(CommandFailure) -> Set<[UInt8]> {
        var all = try Self.bytes(of: given.tokens)
        guard let tokensFile = given.tokensFile else { return all }
        var lines = try TextLines(tokensFile)
        var number = 0
        while let line = try lines.next() {
            number += 1
            switch ScreenedLine(line) {
            case .empty: break
            case .token(let token): all.insert(token)
            case .malformed(let reason): throw .usage("\(tokensFile), line \(number): \(reason)")
            }
        }
        return all
    }

    /// Converts tokens from the user's text to bytes.
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
