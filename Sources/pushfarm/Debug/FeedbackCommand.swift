import ArgumentParser
import EventLoop
import StoreProtocol

struct FeedbackCommand: ParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "feedback",
        abstract: "Reads the feedback services of binary gateways now.",
        discussion: """
            A feedback service lists unregistered tokens. The farm suppresses each listed
            token and reports it as an event. The farm also reads each feedback service
            regularly, in the interval of the setting "feedback_interval".

            The exit status is 75 when a service cannot be read, or when no coordinator is
            running.

            Example:
              pushfarm debug feedback demo
              pushfarm debug feedback all
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Argument(help: "The app, or \"all\" for all apps with a feedback service.", completion: .apps)
    var app: String

    @Option(reads: ArgumentHelp("How long to wait for the result.", valueName: "duration"))
    var timeout = DurationOption(seconds: 120)

    func validate() throws {
        try timeout.check("--timeout", 1...3600)
    }

    func run() throws {
        let configuration = try common.load()
        let apps = configuration.apps.filter { $0.binary?.feedback != nil }.map(\.name)
        if app != "all", !apps.contains(app) {
            guard configuration.app(named: app) != nil else {
                throw CommandFailure.noApp(app, among: configuration.apps.map(\.name))
            }
            throw CommandFailure.usage("the app \(app) has no key \"feedback\" in the configuration")
        }
        guard !apps.isEmpty else {
            throw CommandFailure.usage("no app has the key \"feedback\" in the configuration")
        }
        let console = Console(json: common.json)
        try configuration.withClient { client in
            let deadline = ContinuousClock.now + timeout.duration
            var requests: [RequestedFeedback] = []
            for name in app == "all" ? apps : [app] {
                requests.append(try await RequestedFeedback.send(name, over: client))
            }
            var isGood = true
            for request in requests {
                let outcome = try await request.outcome(over: client, deadline: deadline)
                let tokens = outcome?.tuples ?? 0
                let error = outcome?.error ?? "no coordinator has read it yet"
                console.show(
                    .object([
                        "app": .string(request.app), "tokens": .number(tokens),
                        "error": .text(error.isEmpty ? nil : error),
                    ]),
                    "\(request.app): \(Figures.grouped(tokens)) invalid tokens"
                        + (error.isEmpty ? "" : "; then: \(error)") + "\n")
                isGood = isGood && error.isEmpty
            }
            if !isGood { throw CommandFailure.temporary("") }
        }
    }
}

/// Asks the farm to read an app's feedback service now. A read deletes the list at the service. Therefore only the farm reads
/// the list, and the farm stores the tokens in Redis.
@Loop struct RequestedFeedback {
    let app: String
    private let request: Int64

    static func send(_ app: String, over client: FarmClient) async throws(CommandFailure) -> RequestedFeedback
    {
        let request = try await client.call(AskForFeedback(), app)
        try await client.announce(.feedback(app: app))
        return RequestedFeedback(app: app, request: request)
    }

    /// Waits until a coordinator has read the service, and returns nil when no coordinator has read the service by
    /// the deadline.
    func outcome(
        over client: FarmClient, deadline: ContinuousClock.Instant
    ) async throws(CommandFailure) -> ReadFeedbackStatus.State? {
        while ContinuousClock.now < deadline {
            let state = try await client.call(ReadFeedbackStatus(), app)
            if let state, state.servedUntil > request { return state }
            do { try await Loop.sleep(for: .milliseconds(100)) } catch { break }
        }
        return nil
    }
}
