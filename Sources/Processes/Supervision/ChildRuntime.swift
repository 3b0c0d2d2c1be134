package import ControlChannel
package import EventLoop
import Glibc
package import Logging

/// Functions that change a child's log while the child runs.
package struct ChildLogging {
    package var setLevel: @Loop (_ level: String) -> Void
    /// Reopens the log file, if the child logs to a file.
    package var reopen: @Loop () -> Void

    package init(setLevel: @escaping @Loop (_ level: String) -> Void, reopen: @escaping @Loop () -> Void) {
        (self.setLevel, self.reopen) = (setLevel, reopen)
    }
}

/// Runs a process that a coordinator started. The process gets messages from the coordinator. It exits after a message or a
/// signal to exit, and after the coordinator has exited.
@Loop package final class ChildRuntime<Notice: ControlMessage, Message: ControlMessage> {
    package var onMessage: @Loop (Message) -> Void = { _ in }
    /// Called once, when the process begins to finish. The closure must start no new work, and must call ``end()`` when the
    /// current work is done. After the grace period, the process ends even if ``end()`` was not called.
    package var onFinish: @Loop () -> Void = {}
    /// Called on a signal: `onDump` logs the state, `onQuiet` makes the process take no new work.
    package var onDump: @Loop () -> Void = {}
    package var onQuiet: @Loop () -> Void = {}
    package let logging: ChildLogging
    package private(set) var isFinishing = false
    /// The grace period for pushes in flight after the coordinator has exited, or when another host owns a shard of
    /// this worker.
    package let orphanGrace = Duration.seconds(5)

    private let log: Logger
    private let control: ControlLink<Notice, Message>
    private let signalGrace: Duration
    private var signals: [SignalWatcher] = []
    private var deadline: Timer?
    private var latest = ContinuousClock.now
    private var status: Int32 = 0
    private var ending: CheckedContinuation<Int32, Never>?

    /// - Parameter signalGrace: the time that current work may take after a signal.
    package init(signalGrace: Duration, log: Logger, logging: ChildLogging) {
        (self.signalGrace, self.log, self.logging) = (signalGrace, log, logging)
        control = ControlLink(descriptor: ControlDescriptor.child, peer: "coordinator")
    }

    /// Runs until the process should exit. No message arrives after the return.
    /// - Returns: the process's exit status.
    package func run() async -> Int32 {
        control.onMessage = { [unowned self] message in onMessage(message) }
        control.onEnd = { [unowned self] error in
            if let error { return fail("control channel broken", error) }
            log.warning("the coordinator exited")
            finish(within: orphanGrace)
        }
        watchSignals()
        return await withCheckedContinuation { ending = $0 }
    }

    /// Installs the signal handlers. SIGABRT keeps its default, which ends the process.
    private func watchSignals() {
        for number in [SIGTERM, SIGINT] { on(number) { [unowned self] in finish(within: signalGrace) } }
        on(SIGQUIT) { [unowned self] in finish(within: Self.shortGracePeriod) }
        on(SIGUSR1) { [unowned self] in logging.reopen() }
        on(SIGUSR2) { [unowned self] in onDump() }
        on(SIGTSTP) { [unowned self] in onQuiet() }
        // A terminal sends these signals to all its processes. A child must not end because of them, so it ignores them; only the
        // coordinator handles them.
        for number in [SIGHUP, SIGTTIN, SIGTTOU] { on(number) {} }
    }

    private func on(_ number: Int32, _ action: @escaping @Loop () -> Void) {
        signals.append(SignalWatcher(number, action))
    }

    /// The grace period in which responses to pushes in flight may still arrive.
    private static var shortGracePeriod: Duration { .seconds(2) }

    package func send(_ notice: Notice) { control.send(notice) }

    /// Sends queued messages now, instead of at the end of the loop's turn.
    package func sendNow() { control.sendNow() }

    /// Begins to finish. A later call can only shorten the grace period.
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

    /// Makes ``run()`` return, because the current work is done.
    package func end() {
        control.close()
        deadline?.stop()
        ending?.resume(returning: status)
        ending = nil
    }

    /// Ends the process at once, because it cannot do its work.
    package func fail(_ what: Logger.Message, _ error: any Error) {
        log.critical(what, error: error)
        status = ChildExitStatus.broken
        end()
    }
}
