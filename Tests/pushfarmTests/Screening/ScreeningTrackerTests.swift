import Testing

@testable import pushfarm

/// Chunks that are put in, and what events say of them.
struct ScreeningTrackerTests {
    private static let tokens = ["aa", "bb", "cc", "dd"]

    private func opened() -> ScreeningTracker {
        var books = ScreeningTracker(run: "x")
        books.open(0, Self.tokens, since: "1-0")
        return books
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

    private func hear(_ books: inout ScreeningTracker, _ event: [String: String]) -> ScreeningTracker.News {
        books.hear { event[$0] }
    }

    private func verdicts(_ books: inout ScreeningTracker) -> [String: ScreeningVerdict]? {
        books.close(0).map { Dictionary(uniqueKeysWithValues: $0.map { ($0.token, $0.verdict) }) }
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
        // What the farm does not call dead is not: such as all tokens of a wrong environment.
        ([("push.failed", ["reason": "BadDeviceToken"])], .open(reason: "BadDeviceToken", cause: nil)),
        (
            [("push.failed", ["reason": "exhausted", "cause": "throttled"])],
            .open(reason: "exhausted", cause: "throttled")
        ),
        ([("push.expired", [:])], .open(reason: "expired", cause: nil)),
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
    func `events of a token are a verdict`(events: [(String, [String: String])], verdict: ScreeningVerdict) {
        var books = opened()
        for (type, fields) in events {
            #expect(hear(&books, event(type, fields.merging(["token": "bb"]) { $1 })) == .outcome)
        }
        #expect(books.close(0) == nil && books.openTokens == 4)
        #expect(hear(&books, finished(3)) == .outcome && books.hasEnded(0))
        #expect(verdicts(&books) == ["aa": .good, "bb": verdict, "cc": .good, "dd": .good])
        #expect(books.isEmpty && books.openTokens == 0 && books.done.contains(0))
    }

    @Test(arguments: [0, 1, 2, 4]) func `events that were missed leave tokens unseen, never good`(
        delivered: Int
    ) {
        var books = opened()
        _ = hear(&books, failed("aa", "exhausted"))
        _ = hear(&books, finished(delivered))
        let unseen = ScreeningVerdict.open(reason: "unseen", cause: nil)
        #expect(
            verdicts(&books)
                == ["aa": .open(reason: "exhausted", cause: nil), "bb": unseen, "cc": unseen, "dd": unseen])
    }

    @Test func `an jobRecord says as much as the event of the end`() {
        var books = opened()
        books.ended(0, delivered: 4)
        #expect(verdicts(&books)?.values.allSatisfy { $0 == .good } == true)
    }

    @Test func `what is heard of a chunk before it is opened counts`() {
        var books = ScreeningTracker(run: "x")
        _ = hear(&books, event("token.invalid", ["token": "cc", "reason": "Unregistered"]))
        #expect(books.hasStrangers && !books.hasEnded(0))
        _ = hear(&books, finished(3))
        #expect(books.hasEnded(0))
        books.open(0, Self.tokens, since: "1-0")
        #expect(!books.hasStrangers)
        #expect(verdicts(&books)?["cc"] == .invalid(reason: "Unregistered", time: 5, wasKnown: false))
    }

    @Test func `other jobs, and chunks that are done, are passed over`() {
        let done = RangeSet(1..<2)
        var books = ScreeningTracker(run: "x", done: done)
        for job in ["screen-y.0", "screen-x.1", "order-1", "screen-x."] {
            #expect(
                hear(&books, event("push.failed", ["token": "aa", "reason": "r"], job: job)) == .nothing,
                "\(job)")
        }
        books.ended(1, delivered: 3)
        #expect(!books.hasStrangers)
    }

    @Test func `a refusal is told, but not that of a second job of the same id`() {
        var books = opened()
        #expect(hear(&books, event("job.duplicate", [:])) == .nothing)
        #expect(
            hear(&books, event("job.refused", ["field": "tokens", "reason": "too many"]))
                == .refused(0, reason: "tokens: too many"))
    }

    @Test func `the position that is still needed is that of the oldest open chunk`() {
        var books = opened()
        books.open(1, ["ee"], since: "2-0")
        #expect(books.since == "1-0" && books.open == [0, 1] && books.openTokens == 5)
        books.ended(0, delivered: 4)
        _ = books.close(0)
        #expect(books.since == "2-0" && books.id(of: 1) == "screen-x.1")
    }
}
