import EventLoop
import LoopTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct WakeUpTests {
    /// Work that runs until the test calls ``end()``.
    @Loop private final class Work {
        private(set) var begun = 0
        private(set) var running = 0
        private(set) var most = 0
        private var ends: [CheckedContinuation<Void, Never>] = []

        func run() async {
            begun += 1
            running += 1
            most = max(most, running)
            await withCheckedContinuation { ends.append($0) }
            running -= 1
        }

        func end() {
            for each in ends { each.resume() }
            ends = []
        }
    }

    @Test func `any number of wake-ups during a run causes one more run`() async throws {
        try await onLoop {
            let work = Work()
            let wakeUp = WakeUp { await work.run() }
            for _ in 0..<1000 { wakeUp() }
            #expect(await until { work.running == 1 })
            for _ in 0..<20_000 { wakeUp() }
            work.end()
            #expect(await until { work.begun == 2 && work.running == 1 })
            work.end()
            #expect(await until { work.running == 0 })
            // A wake-up after the end of the work starts the work again.
            wakeUp()
            #expect(await until { work.begun == 3 })
            work.end()
            #expect(await until { work.running == 0 })
            #expect(work.begun == 3 && work.most == 1)
        }
    }
}
