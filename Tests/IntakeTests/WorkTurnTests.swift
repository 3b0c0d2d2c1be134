import EventLoop
import LoopTesting
import Testing

@testable import Intake

struct WorkTurnTests {
    /// Apps that want to work, and who does, in the order in which they came to it.
    @Loop private final class Queue {
        private(set) var asking = 0
        private(set) var working: [String] = []

        init(_ apps: [String], for turn: WorkTurn) {
            for app in apps {
                Loop.task { [self] in
                    asking += 1
                    await turn.begin(app)
                    working.append(app)
                }
            }
        }
    }

    @Test func `apps work side by side`() async throws {
        try await onLoop {
            let turn = WorkTurn()
            await turn.begin("a")
            await turn.begin("b")
        }
    }

    @Test func `while the jobs of one app go one by one, one app works at a time`() async throws {
        try await onLoop {
            let turn = WorkTurn()
            turn.set("a", isOneByOne: true)
            await turn.begin("a")
            let queue = Queue(["b", "c"], for: turn)
            #expect(await until { queue.asking == 2 })
            #expect(queue.working.isEmpty)
            turn.end("a")
            #expect(await until { !queue.working.isEmpty })
            // Both were woken in the same turn of the loop: the other one waits again by now.
            let first = queue.working
            #expect(first.count == 1)
            turn.end(first[0])
            #expect(await until { queue.working.count == 2 })
        }
    }

    @Test func `when no app is careful any more, all go on`() async throws {
        try await onLoop {
            let turn = WorkTurn()
            turn.set("a", isOneByOne: true)
            await turn.begin("a")
            let queue = Queue(["b", "c"], for: turn)
            #expect(await until { queue.asking == 2 })
            turn.set("a", isOneByOne: false)
            #expect(await until { queue.working.count == 2 })
        }
    }
}
