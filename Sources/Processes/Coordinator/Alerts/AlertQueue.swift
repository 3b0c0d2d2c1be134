import EventLoop
import Logging

/// Sends alerts to one destination, one at a time, with at most three attempts for each alert.
@Loop final class AlertQueue {
    /// Sends the alert's notification. Returns why the notification failed; nil if it succeeded.
    typealias Destination = @Loop (AlertMessage) async -> String?

    private(set) var failures = 0
    private let name: String
    private let log: Logger
    private let pause: Duration
    /// The destination; nil if no destination is configured. After a change of this property, alerts that are already
    /// queued go to the new destination.
    var destination: Destination?
    private var waiting: [AlertMessage] = []
    private var work: Task<Void, Never>?
    private var isClosed = false
    /// Signalled when every queued alert was sent or has failed.
    private let changes = AsyncCondition()

    private static let most = 100
    private static let tries = 3

    /// - Parameter pause: the delay before the second attempt. The delay before the third attempt is five times as long.
    init(_ name: String, log: Logger, pause: Duration = .seconds(1)) {
        (self.name, self.log, self.pause) = (name, log, pause)
    }

    func notify(_ message: AlertMessage) {
        guard !isClosed, destination != nil else { return }
        waiting.append(message)
        if waiting.count > Self.most {
            let dropped = waiting.removeFirst()
            failed(dropped, "too many alerts are queued")
        }
        guard work == nil else { return }
        work = Loop.task {
            while !self.waiting.isEmpty, !self.isClosed {
                await self.deliver(next: self.waiting.removeFirst())
            }
            self.work = nil
            self.changes.signal()
        }
    }

    /// Drops queued alerts. An attempt in progress may continue until the deadline.
    func close(by deadline: ContinuousClock.Instant) async {
        isClosed = true
        waiting = []
        // The cancellation of the task ends a delay before a retry, but does not end an attempt in progress.
        work?.cancel()
        _ = await changes.until(deadline) { work == nil }
    }

    private func deliver(next message: AlertMessage) async {
        var reason = ""
        for attempt in 1...Self.tries {
            guard let destination, let trouble = await destination(message) else { return }
            reason = trouble
            guard attempt < Self.tries, !isClosed else { break }
            let wait = attempt == 1 ? pause : pause * 5
            guard (try? await Loop.sleep(for: wait)) != nil else { return }
        }
        failed(message, reason)
    }

    private func failed(_ message: AlertMessage, _ reason: String) {
        failures += 1
        log.error(
            "alert notification failed",
            metadata: ["by": "\(name)", "alert": "\(message.alert.id)", "reason": "\(reason)"])
    }
}
