import EventLoop
import Foundation
import LoopTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct LoopTests {
    @Test func `jobs run in the order of their arrival`() async throws {
        let order = try await onLoop {
            let mailbox = Mailbox<Int>()
            for number in 0..<1000 { Task { @Loop in mailbox.put(number) } }
            try await mailbox.wait(until: 1000)
            return mailbox.all
        }
        #expect(order == Array(0..<1000))
    }

    @Test func `jobs from other threads wake the loop and none is lost`() async throws {
        let mailbox = try await onLoop { Mailbox<Int>() }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask { await mailbox.put(number) }
            }
        }
        let all = try await onLoop { mailbox.all }
        #expect(all.sorted() == Array(0..<200))
    }

    @Test func `all code that is isolated to the loop runs on one thread`() async throws {
        let first = try await onLoop { UInt(pthread_self()) }
        let second = try await onLoop {
            await Task.yield()
            return UInt(pthread_self())
        }
        #expect(first == second)
    }

    @Test func `a task that prefers the loop runs on its thread even without an actor`() async throws {
        let thread = try await onLoop { UInt(pthread_self()) }
        let task = Loop.task {
            let before = await threadWithoutActor()
            try? await Loop.sleep(for: .milliseconds(1))
            return [before, UInt(pthread_self()), await threadWithoutActor()]
        }
        #expect(await task.value == [thread, thread, thread])
    }

    @Test func `a task of the loop does not yield where it need not suspend`() async throws {
        // After a task has checked a state, no other task of the loop runs until the first task suspends. So the state is still
        // the same when the first task starts to wait. All waits in the farm rely on this order.
        let order = try await onLoop {
            let mailbox = Mailbox<String>()
            Loop.task {
                Loop.task { mailbox.put("another") }
                await note("a call", mailbox)
                await withCheckedContinuation { continuation in
                    mailbox.put("a wait")
                    continuation.resume()
                }
            }
            try await mailbox.wait(until: 3)
            return mailbox.all
        }
        #expect(order == ["a call", "a wait", "another"])
    }

    @Loop private final class Listener: TurnListener {
        var turns = 0
        var afterTurn: @Loop () -> Void = {}
        func loopTurnEnded() {
            turns += 1
            afterTurn()
        }
    }

    @Test func `a turn listener is called once for each request after the jobs of the turn`()
        async throws
    {
        try await onLoop { () async throws -> Void in
            let listener = Listener()
            let mailbox = Mailbox<String>()
            listener.afterTurn = { mailbox.put("turn") }
            Loop.atEndOfTurn(listener)
            Task { @Loop in mailbox.put("job") }
            try await mailbox.wait(until: 2)
            #expect(mailbox.all == ["job", "turn"] || mailbox.all == ["turn", "job"])
            await Task.yield()
            #expect(listener.turns == 1)
        }
    }

    @Test func `a released listener is not kept until its turn`() async throws {
        try await onLoop { () async throws -> Void in
            let mailbox = Mailbox<String>()
            var listener: Listener? = Listener()
            listener?.afterTurn = { mailbox.put("turn") }
            Loop.atEndOfTurn(listener!)
            listener = nil
            try await Loop.sleep(for: .milliseconds(1))
            #expect(mailbox.all.isEmpty)
        }
    }

    @Test func `a listener that repeats its request does not delay timers`() async throws {
        try await onLoop { () async throws -> Void in
            let listener = Listener()
            let mailbox = Mailbox<Int>()
            listener.afterTurn = { [unowned listener] in
                if mailbox.all.isEmpty { Loop.atEndOfTurn(listener) }
            }
            Loop.atEndOfTurn(listener)
            let timer = Timer { mailbox.put(listener.turns) }
            timer.start(after: .milliseconds(5))
            #expect(try await mailbox.next() > 1)
        }
    }

    @Test func `a sleeper wakes up without other events`() async throws {
        try await onLoop { try await Loop.sleep(for: .milliseconds(1)) }
    }

    @Test func `no sleeper wakes up early however often others wake the loop`() async throws {
        let shortage = try await onLoop { () async throws -> Duration in
            let sleepers = (0..<100).map { number in
                Task { @Loop () async throws -> Duration in
                    var most = Duration.zero
                    let wanted = Duration.milliseconds(2 + number % 7)
                    for _ in 0..<10 {
                        let start = ContinuousClock.now
                        try await Loop.sleep(for: wanted)
                        most = max(most, wanted - start.duration(to: .now))
                    }
                    return most
                }
            }
            var most = Duration.zero
            for sleeper in sleepers { most = max(most, try await sleeper.value) }
            return most
        }
        #expect(shortage == .zero)
    }

    @Test(arguments: [true, false]) func `a cancelled sleeper wakes up with an error`(isEarly: Bool)
        async throws
    {
        try await onLoop { () async throws -> Void in
            let asleep = Mailbox<Void>()
            let sleeper = Task { @Loop in
                asleep.put(())
                try await Loop.sleep(for: .seconds(3600))
            }
            if !isEarly { try await asleep.next() }
            sleeper.cancel()
            await #expect(throws: CancellationError.self) { try await sleeper.value }
        }
    }

    @Test func `a sleeper that is cancelled before its sleep does not sleep`() async throws {
        try await onLoop { () async throws -> Void in
            let sleeper = Task { @Loop in
                withUnsafeCurrentTask { $0?.cancel() }
                try await Loop.sleep(for: .seconds(3600))
            }
            await #expect(throws: CancellationError.self) { try await sleeper.value }
        }
    }
}

@Loop private func note(_ word: String, _ mailbox: Mailbox<String>) async { mailbox.put(word) }

@concurrent private func threadWithoutActor() async -> UInt { UInt(pthread_self()) }
