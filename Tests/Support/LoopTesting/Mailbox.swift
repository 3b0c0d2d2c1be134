package import EventLoop

/// A queue of events for a test: callbacks on the loop append events, and the test takes them in order.
@Loop package final class Mailbox<Event: Sendable> {
    package struct Silence: Error, CustomStringConvertible {
        package let description = "no event came"
    }

    /// All events so far, both taken and not taken.
    package private(set) var all: [Event] = []
    private var taken = 0
    private var reader: CheckedContinuation<Void, Never>?
    private var timer: Timer?

    package init() {}

    package func put(_ event: Event) {
        all.append(event)
        wake()
    }

    /// Waits for the next event.
    /// - Throws: ``Silence`` if no event arrives before the timeout.
    package func next() async throws -> Event {
        try await wait(until: taken + 1)
        defer { taken += 1 }
        return all[taken]
    }

    /// Waits until `count` events have arrived in total.
    package func wait(until count: Int) async throws {
        timer = Timer { [weak self] in self?.wake() }
        timer?.start(after: .seconds(20))
        defer { timer = nil }
        while all.count < count {
            await withCheckedContinuation { if all.count >= count { $0.resume() } else { reader = $0 } }
            guard timer?.isRunning == true || all.count >= count else { throw Silence() }
        }
    }

    private func wake() {
        reader?.resume()
        reader = nil
    }
}
