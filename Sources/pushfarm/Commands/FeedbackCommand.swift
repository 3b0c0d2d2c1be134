import ArgumentParser
import EventLoop
import RedisClient
import StoreProtocol

struct FeedbackCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feedback",
        abstract: "Reads the feedback services of binary gateways.",
        discussion: """
            Example:
              pushfarm feedback read --app demo
            """,
        subcommands: [FeedbackReadCommand.self])
}

struct FeedbackReadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Reads the feedback services now.",
        discussion: """
            The farm reads them by itself every feedback_interval. What they tell
            becomes token.invalid events, and is suppressed. Status 75 when a service
            cannot be read, or no coordinator is there to do it.

            Example:
              pushfarm feedback read
              pushfarm feedback read --app demo
            """)

    @OptionGroup var common: CommonOptions

    @Option(help: ArgumentHelp("Only this app's.", valueName: "name"), completion: .apps)
    var app: String?

    @Option(reads: ArgumentHelp("How long to wait for it.", valueName: "duration"))
    var patience = TimeSpan(seconds: 120)

    func validate() throws {
        try patience.check("--patience", 1...3600)
    }

    func run() throws {
        let configuration = try common.load()
        let apps = configuration.apps.filter { $0.binary?.feedback != nil }.map(\.name)
        if let app, !apps.contains(app) {
            guard configuration.app(named: app) != nil else {
                throw CommandFailure.noApp(app, among: configuration.apps.map(\.name))
            }
            throw CommandFailure.usage("\(app) has no feedback: in the configuration")
        }
        guard !apps.isEmpty else { throw CommandFailure.usage("no app has feedback: in the configuration") }
        let chosen = app.map { [$0] } ?? apps
        let patience = patience.duration
        let outcomes = try Loop.run { @Loop in
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
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
                "\(app): \(Figures.grouped(outcome.tuples)) dead tokens"
                    + (outcome.error.isEmpty ? "" : "; then: \(outcome.error)") + "\n")
        }
        if outcomes.contains(where: { !$0.outcome.error.isEmpty }) { throw CommandFailure.temporary("") }
    }
}
