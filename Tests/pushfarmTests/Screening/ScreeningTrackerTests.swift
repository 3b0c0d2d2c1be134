import Testing

@testable import pushfarm

/// Checks the verdicts for chunks of tokens from their events.
struct ScreeningTrackerTests {
    private static let tokens = ["aa", "bb", "cc", "dd"]

    private func opened() -> ScreeningTracker {
        var tracker = ScreeningTracker(run: "x")
        tracker.open(0, Self.tokens, since: "1-0")
        return tracker
    }

    private func event(_ type: String, _ more: [String: String] = [:], job: String = "screen-x.0") -> [String:
        String]
    {
        ["type": type, "job": job, "at": "5000"].merging(more) { $1 }
    }

    private func failed(_ token: String, _ reason: String, cause: String? = nil) -> [String: String] {
        event(
            "push.failed",
            ["token": token, "reason": reason].merging(cause.map { ["cause": $0] } ?? [:]) { $1 })
    }

    private func finished(_ delivered: Int) -> [String: String] {
        event("job.finished", ["delivered": "\(delivered)"])
    }

    private func receive(_ tracker: inout ScreeningTracker, _ event: [String: String])
        -> ScreeningTracker.Update
    {
        tracker.record { event[$0] }
    }

    private func verdicts(_ tracker: inout ScreeningTracker) -> [String: ScreeningVerdict]? {
        tracker.close(0).map { Dictionary(uniqueKeysWithValues: $0.map { ($0.token, $0.verdict) }) }
    }

    @Test(arguments: [
        (
            [("push.failed", ["reason": "BadDeviceToken"]), ("token.invalid", ["reason": "BadDeviceToken"])],
            ScreeningVerdict.invalid(reason: "BadDeviceToken", time: 5, wasKnown: false)
        ),
        (
            [
                ("push.failed", ["reason": "Unregistered"]),
                ("token.invalid", ["reason": "Unregistered", "timestamp": "3000"]),
            ], .invalid(reason: "Unregistered", time: 3, wasKnown: false)
        ),
        // A failed push alone does not prove that the token is invalid, because in a wrong environment the pushes to all tokens
        // fail. Only the event `token.invalid` proves that the token is invalid.
        ([("push.failed", ["reason": "BadDeviceToken"])], .undecided(reason: "BadDeviceToken", cause: nil)),
        (
            [("push.failed", ["reason": "exhausted", "cause": "throttled"])],
            .undecided(reason: "exhausted", cause: "throttled")
        ),
        ([("push.expired", [:])], .undecided(reason: "expired", cause: nil)),
        ([("push.capped", [:])], .undecided(reason: "capped", cause: nil)),
        (
            [("push.failed", ["reason": "suppressed", "cause": "Feedback"])],
            .invalid(reason: "Feedback", time: 5, wasKnown: true)
        ),
        (
            [("push.failed", ["reason": "suppressed", "cause": "Unregistered", "timestamp": "3000"])],
            .invalid(reason: "Unregistered", time: 3, wasKnown: true)
        ),
        (
            [("push.failed", ["reason": "suppressed"])],
            .invalid(reason: "suppressed", time: 5, wasKnown: true)
        ),
    ])
    func `the events of a token give a verdict`(
        events: [(String, [String: String])], verdict: ScreeningVerdict
    ) {
        var tracker = opened()
        for (type, fields) in events {
            #expect(receive(&tracker, event(type, fields.merging(["token": "bb"]) { $1 })) == .outcome)
        }
        #expect(tracker.close(0) == nil && tracker.openTokens == 4)
        #expect(receive(&tracker, finished(3)) == .outcome && tracker.hasEnded(0))
        #expect(verdicts(&tracker) == ["aa": .good, "bb": verdict, "cc": .good, "dd": .good])
        #expect(tracker.isEmpty && tracker.openTokens == 0 && tracker.done.contains(0))
    }

    @Test(arguments: [0, 1, 2, 4]) func `missed events leave tokens unseen and never good`(
        delivered: Int
    ) {
        var tracker = opened()
        _ = receive(&tracker, failed("aa", "exhausted"))
        _ = receive(&tracker, finished(delivered))
        let unseen = ScreeningVerdict.undecided(reason: "unseen", cause: nil)
        #expect(
            verdicts(&tracker)
                == [
                    "aa": .undecided(reason: "exhausted", cause: nil), "bb": unseen, "cc": unseen,
                    "dd": unseen,
                ])
    }

    @Test func `a job record gives the same result as the final event`() {
        var tracker = opened()
        tracker.ended(0, delivered: 4)
        #expect(verdicts(&tracker)?.values.allSatisfy { $0 == .good } == true)
    }

    @Test func `events of a chunk before its opening count`() {
        var tracker = ScreeningTracker(run: "x")
        _ = receive(&tracker, event("token.invalid", ["token": "cc", "reason": "Unregistered"]))
        #expect(tracker.hasUnknownChunks && !tracker.hasEnded(0))
        _ = receive(&tracker, finished(3))
        #expect(tracker.hasEnded(0))
        tracker.open(0, Self.tokens, since: "1-0")
        #expect(!tracker.hasUnknownChunks)
        #expect(verdicts(&tracker)?["cc"] == .invalid(reason: "Unregistered", time: 5, wasKnown: false))
    }

    @Test func `other jobs and finished chunks are ignored`() {
        let done = RangeSet(1..<2)
        var tracker = ScreeningTracker(run: "x", done: done)
        for job in ["screen-y.0", "screen-x.1", "order-1", "screen-x."] {
            #expect(
                receive(&tracker, event("push.failed", ["token": "aa", "reason": "r"], job: job)) == .nothing,
                "\(job)")
        }
        tracker.ended(1, delivered: 3)
        #expect(!tracker.hasUnknownChunks)
    }

    @Test func `a refusal is reported but not for a second job of the same id`() {
        var tracker = opened()
        #expect(receive(&tracker, event("job.duplicate", [:])) == .nothing)
        #expect(
            receive(&tracker, event("job.refused", ["field": "tokens", "reason": "too many"]))
                == .refused(0, reason: "tokens: too many"))
    }

    @Test func `the needed position is that of the oldest open chunk`() {
        var tracker = opened()
        tracker.open(1, ["ee"], since: "2-0")
        #expect(tracker.since == "1-0" && tracker.open == [0, 1] && tracker.openTokens == 5)
        tracker.ended(0, delivered: 4)
        _ = tracker.close(0)
        #expect(tracker.since == "2-0" && tracker.id(of: 1) == "screen-x.1")
    }
}
