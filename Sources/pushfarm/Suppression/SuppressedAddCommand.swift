import ArgumentParser
import EventLoop
import PushModel
import RedisClient
import StoreProtocol

struct SuppressedAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Suppresses tokens.",
        discussion: """
            Without --topic and --environment they are those of the app's configuration.
            Only the first word of a line is read.

            Example:
              pushfarm suppressed add --app demo --token $TOKEN
              pushfarm suppressed add --app demo --tokens-file unsubscribed.txt
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var selection: SuppressionOptions
    @OptionGroup var list: TokenOptions

    @Option(help: ArgumentHelp("Operator, or a gateway's word such as Unregistered.", valueName: "reason"))
    var reason = SuppressionReason.operator.name

    func validate() throws {
        guard !list.isEmpty else { throw ValidationError("Give --token or --tokens-file.") }
        guard SuppressionReason(name: reason) != nil else {
            throw ValidationError(
                "--reason is one of " + SuppressionReason.allCases.map(\.name).joined(separator: ", ") + ".")
        }
    }

    func run() throws {
        let (selection, list) = (selection, list)
        _ = try TokenOptions.bytes(of: list.tokens)
        let reason = SuppressionReason(name: reason) ?? .operator
        let report = try common.withClient { client in
            let app = try await client.chosenApp(selection.app)
            let store = try await SuppressionStore.open(client, app: app)
            var defaults = selection.defaults(
                store.settings, now: try await client.clock().components.seconds)
            defaults.reason = reason
            guard defaults.topic != nil, defaults.environment != nil else {
                throw CommandFailure.usage("\(app) is not configured here; give --topic and --environment")
            }
            var run = SuppressionImport(
                store: store, defaults: defaults, isQuiet: true, takesTokensOnly: true)
            for token in list.tokens { try await run.take(token[...]) }
            if let file = list.tokensFile { try await run.take(file: file) }
            return try await run.finish()
        }
        try report.show(Console(json: common.json), "suppressed")
    }
}
