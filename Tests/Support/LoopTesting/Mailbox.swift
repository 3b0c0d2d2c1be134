package import EventLoop

/// What a test waits for: events are put in on the loop, and taken out in order.
@Loop package final class Mailbox<Event: Sendable> {
    package struct Silence: Error, CustomStringConvertible {
        package let description = "no event came"
    }

    /// Everything that came, taken out or not.
    package private(set) var all: [Event] = []
    private var taken = 0
    private var reader: CheckedContinuation<Void, Never>?
    private var timer: Timer?

    package init() {}

    package func put(_ event: Event) {
        all.append(event)
        wake()
    }

    /// The next event.
    /// - Throws: ``Silence`` when none comes for so long that something must be broken.
    package func next() async throws -> Event {
        try await wait(until: taken + 1)
        defer { taken += 1 }
        return all[taken]
    }

    /// Waits until so many have come altogether.
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
