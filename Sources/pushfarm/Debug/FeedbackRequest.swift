import EventLoop
import StoreProtocol

/// An order to the farm to read an app's feedback service now. What is read is gone there, and so nobody reads it but the farm,
/// which brings it to Redis.
@Loop struct FeedbackRequest {
    /// What came of it.
    struct Outcome: Sendable {
        let tuples: Int
        /// "" in order.
        let error: String
    }

    let app: String
    private let wish: Int64

    static func send(_ app: String, over client: FarmClient) async throws(CommandFailure) -> FeedbackRequest {
        let wish = try await client.call(AskForFeedback(), app)
        _ = try await client.ask { registry throws(RedisError) in
            try await registry.announce(Array(HostCommand.feedback(app: app).text.utf8))
        }
        return FeedbackRequest(app: app, wish: wish)
    }

    /// Waits for it; nil when no coordinator has read it by the deadline.
    func outcome(
        over client: FarmClient, deadline: ContinuousClock.Instant
    ) async throws(CommandFailure) -> Outcome? {
        while ContinuousClock.now < deadline {
            if let state = try await client.call(ReadFeedback(), app), state.served > wish {
                return Outcome(tuples: state.tuples, error: state.error)
            }
            do { try await Loop.sleep(for: .milliseconds(100)) } catch { break }
        }
        return nil
    }
}
