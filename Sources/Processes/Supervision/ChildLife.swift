package import ControlChannel
package import EventLoop
import Glibc
package import Logging

/// How a child's log is changed while it runs.
package struct ChildLogging {
    package var setLevel: @Loop (_ level: String) -> Void
    /// Opens the file again, if it logs to one.
    package var reopen: @Loop () -> Void

    package init(setLevel: @escaping @Loop (_ level: String) -> Void, reopen: @escaping @Loop () -> Void) {
        (self.setLevel, self.reopen) = (setLevel, reopen)
    }
}

/// The life of a process that a coordinator started: it gets orders, and exits on an order, when the coordinator
/// exits, or on a signal.
@Loop package final class ChildLife<Notice: ControlMessage, Order: ControlMessage> {
    package var onOrder: @Loop (Order) -> Void = { _ in }
    /// Is called once: nothing new starts, and ``end()`` is to be called when the work under way is done. When the time
    /// for it is over, the life ends anyway.
    package var onFinish: @Loop () -> Void = {}
    /// On a signal: log that, and take no new work.
    package var onDump: @Loop () -> Void = {}
    package var onQuiet: @Loop () -> Void = {}
    package let logging: ChildLogging
    package private(set) var isFinishing = false
    /// Grace period for pushes in flight when no order sets one.
    package let orphanGrace = Duration.seconds(5)

    private let log: Logger
    private let control: ControlLink<Notice, Order>
    private let signalGrace: Duration
    private var signals: [SignalWatcher] = []
    private var deadline: Timer?
    private var latest = ContinuousClock.now
    private var status: Int32 = 0
    private var ending: CheckedContinuation<Int32, Never>?

    /// - Parameter signalGrace: how long the work under way may take after a signal.
    package init(signalGrace: Duration, log: Logger, logging: ChildLogging) {
        (self.signalGrace, self.log, self.logging) = (signalGrace, log, logging)
        control = ControlLink(descriptor: ControlDescriptor.child, peer: "coordinator")
    }

    /// Runs until the end; no order comes after it.
    /// - Returns: the process's exit status.
    package func run() async -> Int32 {
        control.onMessage = { [unowned self] order in onOrder(order) }
        control.onEnd = { [unowned self] error in
            if let error { return fail("control channel broken", error) }
            log.warning("the coordinator exited")
            finish(within: orphanGrace)
        }
        watchSignals()
        return await withCheckedContinuation { ending = $0 }
    }

    /// ABRT does what it always does: a trace, a core, the end.
    private func watchSignals() {
        for number in [SIGTERM, SIGINT] { on(number) { [unowned self] in finish(within: signalGrace) } }
        on(SIGQUIT) { [unowned self] in finish(within: Self.shortGracePeriod) }
        on(SIGUSR1) { [unowned self] in logging.reopen() }
        on(SIGUSR2) { [unowned self] in onDump() }
        on(SIGTSTP) { [unowned self] in onQuiet() }
        // What a terminal sends to all of its processes is the coordinator's.
        for number in [SIGHUP, SIGTTIN, SIGTTOU] { on(number) {} }
    }

    private func on(_ number: Int32, _ action: @escaping @Loop () -> Void) {
        signals.append(SignalWatcher(number, action))
    }

    /// For the answers that are on their way.
    private static var shortGracePeriod: Duration { .seconds(2) }

    package func send(_ notice: Notice) { control.send(notice) }

    /// Queued messages leave at the end of the loop's turn, or now.
    package func sendNow() { control.sendNow() }

    /// Begins to end. A later call can only shorten the time.
    package func finish(within grace: Duration, status: Int32 = 0) {
        let end = ContinuousClock.now + grace
        if isFinishing {
            guard end < latest else { return }
            latest = end
            deadline?.start(after: grace)
            return
        }
        isFinishing = true
        (self.status, latest) = (status, end)
        deadline = Timer { [unowned self] in self.end() }
        deadline?.start(after: grace)
        onFinish()
    }

    /// What was under way is done.
    package func end() {
        control.close()
        deadline?.stop()
        ending?.resume(returning: status)
        ending = nil
    }

    /// Ends at once: this process cannot do its work.
    package func fail(_ what: Logger.Message, _ error: any Error) {
        log.critical(what, error: error)
        status = ChildStatus.broken
        end()
    }
}
