import FarmPolicy
import RandomTesting
import Testing

struct RestartPolicyTests {
    private static let start = ContinuousClock().systemEpoch

    /// Simulates the successive processes of one child slot, with the slot's restart policy and clock.
    private struct Slot {
        var policy = RestartPolicy()
        var random = SplitMix(seed: 1)
        var now = RestartPolicyTests.start

        /// Runs one process until its end.
        /// - Parameter up: how long the process is ready; nil if it never becomes ready.
        mutating func run(
            up: Duration?, _ cause: EndCause = .crash, progress: Bool = false
        ) -> RestartPolicy.Decision {
            if let up {
                policy.ready(at: now)
                now = now.advanced(by: up)
                if progress { policy.progressed() }
            }
            let decision = policy.ended(cause, at: now, using: &random)
            if case .start(let delay) = decision { now = now.advanced(by: delay) }
            return decision
        }
    }

    private func seconds(_ decision: RestartPolicy.Decision, between low: Int, and high: Int) -> Bool {
        guard case .start(let delay) = decision else { return false }
        return delay >= .milliseconds(low) && delay <= .milliseconds(high)
    }

    @Test func `a single crash is restarted at once every time`() {
        var slot = Slot()
        for _ in 0..<20 {
            let decision = slot.run(up: .seconds(60))
            #expect(decision == .start(after: .zero))
        }
    }

    @Test func `crashes in a row without progress have growing delays`() {
        var slot = Slot()
        let first = slot.run(up: .seconds(5))
        #expect(first == .start(after: .zero))
        for full in [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000] {
            let decision = slot.run(up: .seconds(59))
            #expect(seconds(decision, between: full / 2, and: full))
        }
        let calm = slot.run(up: .seconds(60))
        #expect(calm == .start(after: .zero))
        let again = slot.run(up: .seconds(2))
        #expect(seconds(again, between: 500, and: 1000))
    }

    @Test func `progress ends a streak`() {
        var slot = Slot()
        _ = slot.run(up: .seconds(5))
        _ = slot.run(up: .seconds(5))
        let progressed = slot.run(up: .seconds(5), progress: true)
        #expect(progressed == .start(after: .zero))
        let next = slot.run(up: .seconds(5))
        #expect(seconds(next, between: 500, and: 1000), "the row begins with the crash after the progress")
    }

    @Test(arguments: [EndCause.kill, .regular])
    func `forty exits caused from outside are each restarted within a second`(cause: EndCause) {
        var slot = Slot()
        for number in 0..<40 {
            let decision = slot.run(up: .milliseconds(number % 4 == 0 ? 100 : 500 * number), cause)
            guard case .start(let delay) = decision else {
                Issue.record("\(decision)")
                return
            }
            #expect(delay <= .milliseconds(300))
        }
    }

    @Test func `only a second short run in a row causes a delay`() {
        var slot = Slot()
        let decisions = [Duration.milliseconds(100), .milliseconds(100), .seconds(5), .milliseconds(100)]
            .map { slot.run(up: $0, .kill) }
        #expect(
            decisions == [Duration.zero, .milliseconds(300), .zero, .zero].map { .start(after: $0) })
    }

    @Test func `kills neither start nor end a streak of crashes`() {
        var slot = Slot()
        _ = slot.run(up: .seconds(5))
        for _ in 0..<5 {
            let kill = slot.run(up: .seconds(5), .kill)
            #expect(kill == .start(after: .zero))
        }
        let second = slot.run(up: .seconds(5))
        #expect(seconds(second, between: 500, and: 1000))
    }

    @Test func `three starts without readiness are enough to give up`() {
        var slot = Slot()
        let decisions = [slot.run(up: nil), slot.run(up: nil), slot.run(up: nil)]
        #expect(seconds(decisions[0], between: 500, and: 1000))
        #expect(seconds(decisions[1], between: 1000, and: 2000))
        #expect(decisions[2] == .giveUp(failedStarts: 3))
        slot.policy.reset()
        let first = slot.run(up: .zero)
        #expect(first == .start(after: .zero))
    }

    @Test func `a process that is killed before it is ready is not given up`() {
        var slot = Slot()
        for _ in 0..<10 {
            let decision = slot.run(up: nil, .kill)
            #expect(decision == .start(after: .milliseconds(300)))
        }
        let failed = [slot.run(up: nil), slot.run(up: nil, .kill), slot.run(up: nil), slot.run(up: nil)]
        #expect(failed.last == .giveUp(failedStarts: 3))
    }

    @Test func `a heartbeat of a ready process resets failed starts and not crashes`() {
        var slot = Slot()
        _ = slot.run(up: nil)
        _ = slot.run(up: nil)
        let crash = slot.run(up: .seconds(1))
        #expect(seconds(crash, between: 2000, and: 4000))
        let failed = slot.run(up: nil)
        #expect(seconds(failed, between: 4000, and: 8000))
        let again = slot.run(up: nil)
        #expect(seconds(again, between: 8000, and: 16_000))
        let last = slot.run(up: nil)
        #expect(last == .giveUp(failedStarts: 3))
    }

    @Test func `a process that exits in order restarts at once every time`() {
        var random = SplitMix(seed: 1)
        var policy = RestartPolicy()
        var now = ContinuousClock.now
        for _ in 0..<20 {
            policy.ready(at: now)
            now += .seconds(1)
            #expect(policy.ended(.regular, at: now, using: &random) == .start(after: .zero))
        }
        policy.ready(at: now)
        #expect(
            policy.ended(.crash, at: now, using: &random) == .start(after: .zero),
            "the first crash is still the first")
    }

    @Test func `a regular exit before readiness is a failed start`() {
        var random = SplitMix(seed: 1)
        var policy = RestartPolicy()
        for _ in 1..<policy.allowedFailedStarts { _ = policy.ended(.regular, at: .now, using: &random) }
        #expect(
            policy.ended(.regular, at: .now, using: &random)
                == .giveUp(failedStarts: policy.allowedFailedStarts))
    }
}
