import ArgumentParser
import EventLoop
import RedisClient
import StoreProtocol

struct FeedbackCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feedback",
        abstract: "Reads the feedback services of binary gateways now.",
        discussion: """
            The farm reads them by itself every feedback_interval. It suppresses the tokens
            that they list and reports each as an event. Status 75 when a service cannot be
            read, or when no coordinator is running.

            Example:
              pushfarm debug feedback demo
              pushfarm debug feedback all
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Argument(help: "The app, or all.", completion: .apps)
    var app: String

    @Option(reads: ArgumentHelp("How long to wait for it.", valueName: "duration"))
    var patience = TimeSpan(seconds: 120)

    func validate() throws {
        try patience.check("--patience", 1...3600)
    }

    func run() throws {
        let configuration = try common.load()
        let apps = configuration.apps.filter { $0.binary?.feedback != nil }.map(\.name)
        if app != "all", !apps.contains(app) {
            guard configuration.app(named: app) != nil else {
                throw CommandFailure.noApp(app, among: configuration.apps.map(\.name))
            }
            throw CommandFailure.usage("\(app) has no feedback: in the configuration")
        }
        guard !apps.isEmpty else { throw CommandFailure.usage("no app has feedback: in the configuration") }
        let chosen = app == "all" ? apps : [app]
        let patience = patience.duration
        let outcomes = try configuration.withClient { client in
            let deadline = ContinuousClock.now + patience
            var requests: [FeedbackRequest] = []
            for name in chosen { requests.append(try await FeedbackRequest.send(name, over: client)) }
            var outcomes: [(app: String, outcome: FeedbackRequest.Outcome)] = []
            for request in requests {
                let outcome = try await request.outcome(over: client, deadline: deadline)
                outcomes.append(
                    (request.app, outcome ?? .init(tuples: 0, error: "no coordinator has read it yet")))
            }
            return outcomes
        }
        for (app, outcome) in outcomes {
            Console(json: common.json).show(
                .object([
                    "app": .string(app), "tokens": .number(outcome.tuples),
                    "error": .text(outcome.error.isEmpty ? nil : outcome.error),
                ]),
                "\(app): \(Figures.grouped(outcome.tuples)) invalid tokens"
                    + (outcome.error.isEmpty ? "" : "; then: \(outcome.error)") + "\n")
        }
        if outcomes.contains(where: { !$0.outcome.error.isEmpty }) { throw CommandFailure.temporary("") }
    }
}

/// Asks the farm to read an app's feedback service now. Reading deletes the list there, so only the farm reads it and stores it in
/// Redis.
@Loop struct FeedbackRequest {
    /// The result of a reading.
    struct Outcome: Sendable {
        let tuples: Int
        /// "" in order.
        let error: String
    }

    let app: String
    private let request: Int64

    static func send(_ app: String, over client: FarmClient) async throws(CommandFailure) -> FeedbackRequest {
        let request = try await client.call(AskForFeedback(), app)
        _ = try await client.ask { registry throws(RedisError) in
            try await registry.announce(Array(HostCommand.feedback(app: app).text.utf8))
        }
        return FeedbackRequest(app: app, request: request)
    }

    /// Waits for it; nil when no coordinator has read it by the deadline.
    func outcome(
        over client: FarmClient, deadline: ContinuousClock.Instant
    ) async throws(CommandFailure) -> Outcome? {
        while ContinuousClock.now < deadline {
            if let state = try await client.call(ReadFeedback(), app), state.served > request {
                return Outcome(tuples: state.tuples, error: state.error)
            }
            do { try await Loop.sleep(for: .milliseconds(100)) } catch { break }
        }
        return nil
    }
}
