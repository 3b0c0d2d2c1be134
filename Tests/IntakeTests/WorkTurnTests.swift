import EventLoop
import LoopTesting
import Testing

@testable import Intake

struct WorkTurnTests {
    /// Who works, in the order in which they came to it.
    @Loop private final class Record {
        var working: [String] = []
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
            let record = Record()
            turn.set("a", isCareful: true)
            await turn.begin("a")
            for app in ["b", "c"] {
                Task { @Loop in
                    await turn.begin(app)
                    record.working.append(app)
                }
            }
            try await Loop.sleep(for: .milliseconds(20))
            #expect(record.working.isEmpty)
            turn.end("a")
            #expect(await until { !record.working.isEmpty })
            try await Loop.sleep(for: .milliseconds(20))
            let first = record.working
            #expect(first.count == 1)
            turn.end(first[0])
            #expect(await until { record.working.count == 2 })
        }
    }

    @Test func `when no app is careful any more, all go on`() async throws {
        try await onLoop {
            let turn = WorkTurn()
            let record = Record()
            turn.set("a", isCareful: true)
            await turn.begin("a")
            for app in ["b", "c"] {
                Task { @Loop in
                    await turn.begin(app)
                    record.working.append(app)
                }
            }
            turn.set("a", isCareful: false)
            #expect(await until { record.working.count == 2 })
        }
    }
}
