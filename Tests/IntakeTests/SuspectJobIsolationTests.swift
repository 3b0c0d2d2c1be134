import EventLoop
import LoopTesting
import Testing

@testable import Intake

struct SuspectJobIsolationTests {
    /// Counts the apps that request a turn, and lists the apps that got a turn, in the order of the turns.
    @Loop private final class Queue {
        private(set) var asking = 0
        private(set) var working: [String] = []

        init(_ apps: [String], for turn: SuspectJobIsolation) {
            for app in apps {
                Loop.task { [self] in
                    asking += 1
                    await turn.begin(app)
                    working.append(app)
                }
            }
        }
    }

    /// App "a", whose jobs are suspects, has its turn. The apps "b" and "c" wait for a turn.
    @Loop private static func queueBehindSuspects() async -> (SuspectJobIsolation, Queue) {
        let turn = SuspectJobIsolation()
        turn.set("a", isOneByOne: true)
        await turn.begin("a")
        let queue = Queue(["b", "c"], for: turn)
        #expect(await until { queue.asking == 2 })
        return (turn, queue)
    }

    @Test func `apps work at the same time`() async throws {
        try await onLoop {
            let turn = SuspectJobIsolation()
            await turn.begin("a")
            await turn.begin("b")
        }
    }

    @Test func `one app works at a time while the jobs of one app are suspects`() async throws {
        try await onLoop {
            let (turn, queue) = await Self.queueBehindSuspects()
            #expect(queue.working.isEmpty)
            turn.end("a")
            #expect(await until { !queue.working.isEmpty })
            // Both apps woke up in the same turn of the event loop, but only one app got its turn. The other app waits again.
            let first = queue.working
            #expect(first.count == 1)
            turn.end(first[0])
            #expect(await until { queue.working.count == 2 })
        }
    }

    @Test func `all apps continue once no app has suspects`() async throws {
        try await onLoop {
            let (turn, queue) = await Self.queueBehindSuspects()
            turn.set("a", isOneByOne: false)
            #expect(await until { queue.working.count == 2 })
        }
    }
}
