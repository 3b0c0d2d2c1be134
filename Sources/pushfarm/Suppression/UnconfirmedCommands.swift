import ArgumentParser
import EventLoop
import StoreProtocol

struct SuppressedConfirmCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confirm",
        abstract: "Confirms unconfirmed suppressions.",
        discussion: """
            The gateway calls a token bad when the token is invalid, or when it belongs to
            another environment. While the share of bad tokens among the last 1,000
            responses is above the setting "suppression.hold_share" (in percent), the farm
            continues to send, but leaves the suppressions of new bad tokens unconfirmed:
            the farm suppresses these tokens only after this command, or when the share
            falls. After this command, the farm suppresses new bad tokens at once, until
            the share falls.

            Example:
              pushfarm suppressed confirm --app demo --dry-run
              pushfarm suppressed confirm --app demo
            """)

    @OptionGroup var options: UnconfirmedOptions

    func run() throws { try options.perform(.confirm, done: "applied") }
}

struct SuppressedDiscardCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard",
        abstract: "Deletes unconfirmed suppressions.",
        discussion: """
            A suppression is unconfirmed when the gateway called the token bad while the
            share of bad tokens among the last 1,000 responses was above the setting
            "suppression.hold_share" (in percent). After this command, the farm continues
            to send to the tokens of the deleted suppressions. If the gateway calls more
            tokens bad, the suppressions of these tokens are unconfirmed again.

            Example:
              pushfarm suppressed discard --app demo --dry-run
              pushfarm suppressed discard --app demo
            """)

    @OptionGroup var options: UnconfirmedOptions

    func run() throws { try options.perform(.discard, done: "dropped") }
}

/// The options and the result of the commands for unconfirmed suppressions.
struct UnconfirmedOptions: ParsableArguments {
    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Option(
        help: ArgumentHelp("The app. Not needed when only one app is configured.", valueName: "name"),
        completion: .apps)
    var app: String?

    @Flag(help: "Shows what the command would do, and changes nothing.")
    var dryRun = false

    /// - Parameter done: the word for the finished action, such as `applied`. With `--json`, the word is the name of
    ///   the count.
    func perform(_ step: ResolveUnconfirmed.Step, done: String) throws {
        let configuration = try common.load()
        let app = try configuration.chosenApp(app)
        let count = try configuration.withClient { client in
            try await client.mustHave(app: app)
            let waiting = try await client.call(CountUnconfirmed(), app)
            return dryRun ? waiting : try await Self.settle(waiting, by: step, app, client)
        }
        Console(json: common.json).show(
            .object(["app": .string(app), done: .number(count), "dry_run": .bool(dryRun)]),
            "\(app): \(Figures.counted(count, "suppression", "suppressions")) "
                + (dryRun ? "would be \(done)\n" : "\(done)\n"))
    }

    /// Applies or deletes the unconfirmed suppressions in portions. Suppressions that arrive meanwhile stay unconfirmed.
    /// - Returns: the number of suppressions.
    @Loop private static func settle(
        _ waiting: Int, by step: ResolveUnconfirmed.Step, _ app: String, _ client: FarmClient
    ) async throws(CommandFailure) -> Int {
        let shards = try await client.shards()
        let limit =
            client.configuration.app(named: app)?.suppressionLimit(shards: shards) ?? Retention().suppressed
        var done = 0
        repeat {
            let reply = try await client.call(
                ResolveUnconfirmed(step, limit: limit, most: min(500, max(1, waiting - done))), app)
            done += reply.done
            if reply.done == 0 { break }
        } while done < waiting
        return done
    }
}
