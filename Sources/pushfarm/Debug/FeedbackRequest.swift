import EventLoop
import StoreProtocol

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
