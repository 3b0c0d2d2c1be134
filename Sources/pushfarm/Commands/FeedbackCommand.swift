import ArgumentParser
import EventLoop
import FarmStore

struct FeedbackCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feedback",
        abstract: "The feedback services of binary gateways.",
        discussion: """
            Example:
              pushfarm feedback read --app demo
            """,
        subcommands: [FeedbackReadCommand.self])
}

struct FeedbackReadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Has the feedback services read now.",
        discussion: """
            The farm reads them by itself every feedback_interval. What they tell
            becomes token.dead events, and is suppressed. Status 75 when a service cannot
            be read, or no coordinator is there to do it.

            Example:
              pushfarm feedback read
              pushfarm feedback read --app demo
            """)

    @OptionGroup var common: CommonOptions

    @Option(help: ArgumentHelp("Only this app's.", valueName: "name"), completion: .apps)
    var app: String?

    @Option(help: ArgumentHelp("How long to wait for it.", valueName: "duration"))
    var patience = TimeSpan(seconds: 120)

    func validate() throws {
        try patience.check("--patience", 1...3600)
    }

    /// What came of one app's reading.
    private struct Outcome: Sendable {
        let app: String
        let tuples: Int
        let error: String
    }

    func run() throws {
        let configuration = try common.load()
        let apps = configuration.apps.filter { $0.binary?.feedback != nil }.map(\.name)
        if let app, !apps.contains(app) {
            throw CommandFailure.usage("\(app) has no feedback: in the configuration")
        }
        guard !apps.isEmpty else { throw CommandFailure.usage("no app has feedback: in the configuration") }
        let chosen = app.map { [$0] } ?? apps
        let patience = patience.duration
        let outcomes = try Loop.run { @Loop in
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            let deadline = ContinuousClock.now + patience
            var wishes: [(String, Int64)] = []
            for name in chosen {
                wishes.append((name, try await client.call(AskForFeedback(), name)))
                _ = try await client.ask { registry throws(RedisError) in
                    try await registry.announce(Array(HostCommand.feedback(app: name).text.utf8))
                }
            }
            var outcomes: [Outcome] = []
            for (name, wish) in wishes {
                outcomes.append(try await Self.outcome(of: wish, name, client, deadline))
            }
            return outcomes
        }
        for outcome in outcomes {
            Console(json: common.json).show(
                .object([
                    "app": .string(outcome.app), "tokens": .number(outcome.tuples),
                    "error": .text(outcome.error.isEmpty ? nil : outcome.error),
                ]),
                "\(outcome.app): \(Figures.grouped(outcome.tuples)) dead tokens"
                    + (outcome.error.isEmpty ? "" : "; then: \(outcome.error)") + "\n")
        }
        if outcomes.contains(where: { !$0.error.isEmpty }) { throw CommandFailure.temporary("") }
    }

    @Loop private static func outcome(
        of wish: Int64, _ app: String, _ client: FarmClient, _ deadline: ContinuousClock.Instant
    ) async throws(CommandFailure) -> Outcome {
        while ContinuousClock.now < deadline {
            if let state = try await client.call(ReadFeedback(), app), state.served > wish {
                return Outcome(app: app, tuples: state.tuples, error: state.error)
            }
            do { try await Loop.sleep(for: .milliseconds(100)) } catch { break }
        }
        return Outcome(app: app, tuples: 0, error: "no coordinator has read it yet")
    }
}
