import FarmPolicy
import PushModel
import RandomTesting
import Testing

struct RetryPolicyTests {
    private let policy = RetryPolicy()

    private func delays(
        _ cause: RetryCause, attempts: Int, retryAfter: Duration? = nil, deadline: Int64? = nil,
        now: Int64 = 0
    ) -> [Duration] {
        var random = SplitMix(seed: UInt64(attempts))
        return (0..<200).compactMap { _ in
            let decision = policy.decide(
                cause, attempts: attempts, maxAttempts: .max, deadline: deadline, now: now,
                retryAfter: retryAfter,
                using: &random)
            guard case .retry(let delay) = decision else { return nil }
            return delay
        }
    }

    @Test(arguments: [
        (RetryCause.server, 1, 1000), (.server, 2, 2000), (.server, 3, 4000),
        (.server, 9, 256_000), (.server, 10, 300_000), (.server, 100, 300_000),
        (.unknownOutcome, 1, 1000), (.unknownOutcome, 4, 8000), (.throttled, 1, 30_000),
        (.throttled, 2, 60_000),
        (.throttled, 3, 120_000), (.throttled, 20, 1_800_000), (.authSlow, 1, 60_000),
        (.authSlow, 6, 1_200_000), (.server, 0, 1000),
    ]) func `the delay doubles and is half fixed and half random`(
        cause: RetryCause, attempts: Int, milliseconds: Int
    )
        throws
    {
        let delays = delays(cause, attempts: attempts)
        #expect(delays.count == 200)
        let full = Duration.milliseconds(milliseconds)
        #expect(delays.allSatisfy { $0 >= full / 2 && $0 <= full })
        let spread = try #require(delays.max()) - #require(delays.min())
        #expect(spread > full * 0.4)
    }

    @Test func `a retry is not earlier than the gateway requests`() {
        #expect(
            delays(.server, attempts: 1, retryAfter: .seconds(100)).allSatisfy {
                $0 >= .seconds(100) && $0 < .seconds(101)
            })
        #expect(delays(.throttled, attempts: 1, retryAfter: .seconds(1)).allSatisfy { $0 >= .seconds(15) })
        #expect(
            delays(.server, attempts: 1, retryAfter: .seconds(-5)).allSatisfy {
                $0 >= .milliseconds(500)
            })
        #expect(
            delays(.server, attempts: 1, retryAfter: .seconds(Int64.max)).allSatisfy {
                $0 <= .seconds(86_401)
            })
    }

    @Test(arguments: RetryCause.allCases.filter(\.isAttempt)) func `retries end after the allowed attempts`(
        cause: RetryCause
    ) {
        var random = SplitMix(seed: 1)
        func decide(_ attempts: Int, _ maxAttempts: Int) -> RetryPolicy.Decision {
            policy.decide(
                cause, attempts: attempts, maxAttempts: maxAttempts, deadline: nil, now: 0, using: &random)
        }
        #expect(decide(8, 8) == .exhausted)
        #expect(decide(9, 8) == .exhausted)
        #expect(decide(1, 1) == .exhausted)
        #expect(decide(7, 8) != .exhausted)
    }

    @Test func `an unattempted push is delayed as requested any number of times`() {
        #expect(Set(delays(.coolDown, attempts: 200, retryAfter: .seconds(77))) == [.seconds(77)])
        #expect(delays(.coolDown, attempts: 1, retryAfter: .seconds(77), deadline: 78).count == 200)
        #expect(delays(.coolDown, attempts: 1, retryAfter: .seconds(77), deadline: 77).isEmpty)
        #expect(policy.range(for: .throttled, attempts: 2) == .seconds(30)...(.seconds(60)))
    }

    @Test func `a push after its deadline is expired and not exhausted`() {
        var random = SplitMix(seed: 1)
        for now in [1000, 1001] as [Int64] {
            let decision = policy.decide(
                .server, attempts: 8, maxAttempts: 8, deadline: 1000, now: now, using: &random)
            #expect(decision == .expired)
        }
        let decision = policy.decide(
            .server, attempts: 8, maxAttempts: 8, deadline: 1000, now: 999, using: &random)
        #expect(decision == .exhausted)
    }

    @Test func `a retry never waits beyond the deadline`() {
        #expect(
            delays(.throttled, attempts: 1, deadline: 1020, now: 1000).allSatisfy {
                $0 >= .seconds(15) && $0 <= .seconds(19)
            })
        #expect(delays(.throttled, attempts: 1, deadline: 1020, now: 1000).count == 200)
        #expect(delays(.throttled, attempts: 1, deadline: 1015, now: 1000).isEmpty)
        #expect(
            delays(.server, attempts: 1, retryAfter: .seconds(60), deadline: 1030, now: 1000).isEmpty)
        #expect(delays(.server, attempts: 1, deadline: .max, now: .min).count == 200)
    }
}
