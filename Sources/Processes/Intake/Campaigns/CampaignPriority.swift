import EventLoop
import StoreProtocol

/// Lets device inputs wait while a campaign performs a step, so that a storm of registrations does not delay campaigns.
@Loop final class CampaignPriority {
    /// The longest wait, so that device inputs are applied beside any campaign.
    private static let longestWait = Duration.milliseconds(100)

    /// The number of steps in progress.
    private var steps = 0
    private let ended = AsyncCondition()

    /// Performs a step of a campaign.
    func perform<Value>(
        _ step: @Loop () async throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        steps += 1
        defer {
            steps -= 1
            if steps == 0 { ended.signal() }
        }
        return try await step()
    }

    /// Waits while a campaign performs a step, but not for long.
    func waitForSteps() async {
        _ = await ended.until(.now + Self.longestWait) { steps == 0 }
    }
}
