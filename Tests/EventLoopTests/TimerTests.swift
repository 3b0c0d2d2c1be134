import EventLoop
import LoopTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct TimerTests {
    @Test func `timers fire in the order of their times`() async throws {
        try await onLoop { () async throws -> Void in
            let mailbox = Mailbox<Int>()
            let timers = [30, 10, 20].map { delay in
                let timer = Timer { mailbox.put(delay) }
                timer.start(after: .milliseconds(delay))
                return timer
            }
            try await mailbox.wait(until: 3)
            #expect(mailbox.all == [10, 20, 30])
            #expect(timers.allSatisfy { !$0.isRunning })
        }
    }

    @Test func `a timer fires at its time or at once when the time has passed`() async throws {
        try await onLoop { () async throws -> Void in
            let mailbox = Mailbox<String>()
            let timer = Timer { mailbox.put("rung") }
            let time = Loop.milliseconds + 20
            timer.start(at: time)
            #expect(try await mailbox.next() == "rung")
            #expect(Loop.milliseconds >= time)
            timer.start(at: time)
            #expect(try await mailbox.next() == "rung")
        }
    }

    @Test func `a stopped timer stays silent and can be restarted`() async throws {
        try await onLoop { () async throws -> Void in
            let mailbox = Mailbox<String>()
            let stopped = Timer { mailbox.put("stopped") }
            let other = Timer { mailbox.put("other") }
            stopped.start(after: .milliseconds(1))
            #expect(stopped.isRunning)
            stopped.stop()
            #expect(!stopped.isRunning)
            other.start(after: .milliseconds(3))
            #expect(try await mailbox.next() == "other")
            stopped.start(after: .zero)
            #expect(try await mailbox.next() == "stopped")
        }
    }

    @Test func `restarting a timer moves its time`() async throws {
        try await onLoop { () async throws -> Void in
            let mailbox = Mailbox<String>()
            let moved = Timer { mailbox.put("moved") }
            moved.start(after: .milliseconds(1))
            moved.start(after: .milliseconds(8))
            let other = Timer { mailbox.put("other") }
            other.start(after: .milliseconds(4))
            try await mailbox.wait(until: 2)
            #expect(mailbox.all == ["other", "moved"])
        }
    }

    @Test func `a repeated timer continues until its own action stops it`() async throws {
        try await onLoop { () async throws -> Void in
            let mailbox = Mailbox<Int>()
            var timer: Timer?
            timer = Timer {
                mailbox.put(mailbox.all.count)
                if mailbox.all.count == 3 { timer?.stop() }
            }
            timer?.start(after: .zero, every: .milliseconds(1))
            try await mailbox.wait(until: 3)
            #expect(timer?.isRunning == false)
        }
    }

    @Test func `a released timer never fires`() async throws {
        try await onLoop { () async throws -> Void in
            let mailbox = Mailbox<String>()
            var released: Timer? = Timer { mailbox.put("released") }
            released?.start(after: .milliseconds(1))
            released = nil
            let other = Timer { mailbox.put("other") }
            other.start(after: .milliseconds(3))
            #expect(try await mailbox.next() == "other")
        }
    }

    /// An owner with a timer whose closure captures the owner as `unowned`.
    @Loop private final class Owner {
        private(set) lazy var timer = Timer { [unowned self] in calls.put(1) }
        private let calls: Mailbox<Int>
        init(_ calls: Mailbox<Int>) { self.calls = calls }
    }

    @Test func `an owner released in a callback cancels its timer of the same turn`() async throws {
        try await onLoop { () async throws -> Void in
            let calls = Mailbox<Int>()
            let done = Mailbox<Void>()
            var owners: [Owner] = (0..<10).map { _ in Owner(calls) }
            let killer = Timer { owners = [] }
            killer.start(after: .zero)
            for owner in owners { owner.timer.start(after: .zero) }
            let end = Timer { done.put(()) }
            end.start(after: .milliseconds(2))
            try await done.next()
            #expect(calls.all.isEmpty)
        }
    }

    @Test(
        arguments: [
            (Duration.zero, 0), (.seconds(-5), 0), (.nanoseconds(1), 1), (.microseconds(1500), 2),
            (.milliseconds(7), 7), (.seconds(3), 3000),
        ] as [(Duration, UInt64)]) func `durations are rounded up to milliseconds`(
            duration: Duration, milliseconds: UInt64
        )
    {
        #expect(duration.milliseconds == milliseconds)
    }
}
