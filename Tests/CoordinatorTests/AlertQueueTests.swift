import EventLoop
import FarmHarness
import FarmPolicy
import Logging
import LoopTesting
import Testing

@testable import Coordinator

@Suite(.timeLimit(.minutes(1))) struct AlertQueueTests {
    /// A notification channel that records alerts and finishes a delivery when the test says so.
    @Loop private final class Way {
        private(set) var sent: [String] = []
        var trouble: String?
        private var isOpen: Bool
        private let changes = AsyncCondition()

        init(isOpen: Bool = true) { self.isOpen = isOpen }

        func take(_ message: AlertMessage) async -> String? {
            sent.append(message.text)
            _ = await changes.until(.now + .seconds(30)) { self.isOpen }
            return trouble
        }

        func open() {
            isOpen = true
            changes.signal()
        }
    }

    @Loop private static func lane(_ way: Way) -> AlertQueue {
        let lane = AlertQueue(
            "test", log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, pause: .milliseconds(1))
        lane.way = { await way.take($0) }
        return lane
    }

    private static func message(_ text: String) -> AlertMessage {
        AlertMessage(
            what: .fired, alert: Alert(.hostGone, .farm), level: 1, text: text, since: 0, at: 0,
            sender: "here")
    }

    @Test func `an alert that is not delivered is tried three times before the next`() async throws {
        try await onLoop {
            let way = Way()
            way.trouble = "refused"
            let lane = Self.lane(way)
            for text in ["a", "b"] { lane.notify(Self.message(text)) }
            #expect(await until { way.sent.count == 6 })
            await Loop.task { await lane.close(by: .now + .seconds(10)) }.value
            #expect(way.sent == ["a", "a", "a", "b", "b", "b"])
            #expect(lane.failures == 2)
        }
    }

    @Test func `the queue keeps the latest hundred alerts`() async throws {
        try await onLoop {
            let way = Way(isOpen: false)
            let lane = Self.lane(way)
            lane.notify(Self.message("first"))
            #expect(await until { way.sent.count == 1 })
            for number in 1...103 { lane.notify(Self.message("\(number)")) }
            #expect(lane.failures == 3)
            way.open()
            #expect(await until { way.sent.count == 101 })
            #expect(way.sent == ["first"] + (4...103).map { "\($0)" })
        }
    }

    @Test func `queued alerts use the new channel or are dropped without one`() async throws {
        try await onLoop {
            let (way, other) = (Way(isOpen: false), Way())
            let lane = Self.lane(way)
            for text in ["a", "b"] { lane.notify(Self.message(text)) }
            #expect(await until { way.sent.count == 1 })
            lane.way = { await other.take($0) }
            way.open()
            #expect(await until { other.sent.count == 1 })
            lane.way = nil
            lane.notify(Self.message("c"))
            await Loop.task { await lane.close(by: .now + .seconds(10)) }.value
            #expect(way.sent == ["a"] && other.sent == ["b"] && lane.failures == 0)
        }
    }

    @Test func `a stop finishes the current delivery and starts no other`() async throws {
        try await onLoop {
            let way = Way(isOpen: false)
            let lane = Self.lane(way)
            for text in ["a", "b"] { lane.notify(Self.message(text)) }
            #expect(await until { way.sent.count == 1 })
            let closing = Loop.task { await lane.close(by: .now + .seconds(10)) }
            way.open()
            await closing.value
            #expect(way.sent == ["a"] && lane.failures == 0)
            lane.notify(Self.message("c"))
            #expect(way.sent == ["a"])
        }
    }
}
