import EventLoop
import FarmHarness
import FarmPolicy
import Logging
import LoopTesting
import Testing

@testable import Coordinator

@Suite(.timeLimit(.minutes(1))) struct AlertQueueTests {
    /// A notification channel that records alerts and finishes a delivery when the test says so.
    @Loop private final class Destination {
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

    @Loop private static func queue(_ destination: Destination) -> AlertQueue {
        let queue = AlertQueue(
            "test", log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, pause: .milliseconds(1))
        queue.destination = { await destination.take($0) }
        return queue
    }

    private static func message(_ text: String) -> AlertMessage {
        AlertMessage(
            what: .fired, alert: Alert(.hostGone, .farm), level: 1, text: text, since: 0, at: 0,
            sender: "here")
    }

    @Test func `an alert that is not delivered is tried three times before the next`() async throws {
        try await onLoop {
            let destination = Destination()
            destination.trouble = "refused"
            let queue = Self.queue(destination)
            for text in ["a", "b"] { queue.notify(Self.message(text)) }
            #expect(await until { destination.sent.count == 6 })
            await Loop.task { await queue.close(by: .now + .seconds(10)) }.value
            #expect(destination.sent == ["a", "a", "a", "b", "b", "b"])
            #expect(queue.failures == 2)
        }
    }

    @Test func `the queue keeps the latest hundred alerts`() async throws {
        try await onLoop {
            let destination = Destination(isOpen: false)
            let queue = Self.queue(destination)
            queue.notify(Self.message("first"))
            #expect(await until { destination.sent.count == 1 })
            for number in 1...103 { queue.notify(Self.message("\(number)")) }
            #expect(queue.failures == 3)
            destination.open()
            #expect(await until { destination.sent.count == 101 })
            #expect(destination.sent == ["first"] + (4...103).map { "\($0)" })
        }
    }

    @Test func `queued alerts use the new channel or are dropped without one`() async throws {
        try await onLoop {
            let (destination, other) = (Destination(isOpen: false), Destination())
            let queue = Self.queue(destination)
            for text in ["a", "b"] { queue.notify(Self.message(text)) }
            #expect(await until { destination.sent.count == 1 })
            queue.destination = { await other.take($0) }
            destination.open()
            #expect(await until { other.sent.count == 1 })
            queue.destination = nil
            queue.notify(Self.message("c"))
            await Loop.task { await queue.close(by: .now + .seconds(10)) }.value
            #expect(destination.sent == ["a"] && other.sent == ["b"] && queue.failures == 0)
        }
    }

    @Test func `a stop finishes the current delivery and starts no other`() async throws {
        try await onLoop {
            let destination = Destination(isOpen: false)
            let queue = Self.queue(destination)
            for text in ["a", "b"] { queue.notify(Self.message(text)) }
            #expect(await until { destination.sent.count == 1 })
            let closing = Loop.task { await queue.close(by: .now + .seconds(10)) }
            destination.open()
            await closing.value
            #expect(destination.sent == ["a"] && queue.failures == 0)
            queue.notify(Self.message("c"))
            #expect(destination.sent == ["a"])
        }
    }
}
