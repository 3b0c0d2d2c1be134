package import ControlChannel
package import EventLoop
package import Logging

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The life of a process that a coordinator started: it hears orders, and ends when it is told to, when the coordinator
/// is gone, or by a signal.
@Loop package final class ChildLife<Notice: ControlMessage, Order: ControlMessage> {
    package var onOrder: @Loop (Order) -> Void = { _ in }
    /// Is called once: nothing new starts, and ``end()`` is to be called when what is under way is done. When the time
    /// for it is over, the life ends anyway.
    package var onFinish: @Loop () -> Void = {}
    package private(set) var isFinishing = false
    /// What is under way gets so long when nobody is there who says how long.
    package let orphanGrace = Duration.seconds(5)

    private let log: Logger
    private let control: ControlLink<Notice, Order>
    private let signalGrace: Duration
    private var signals: [SignalWatcher] = []
    private var deadline: Timer?
    private var status: Int32 = 0
    private var ending: CheckedContinuation<Int32, Never>?

    /// - Parameter signalGrace: how long what is under way may take after a signal.
    package init(signalGrace: Duration, log: Logger) {
        (self.signalGrace, self.log) = (signalGrace, log)
        control = ControlLink(descriptor: ControlDescriptor.child, peer: "coordinator")
    }

    /// Runs until the end; no order comes after it.
    /// - Returns: the process's exit status.
    package func run() async -> Int32 {
        control.onMessage = { [unowned self] order in onOrder(order) }
        control.onEnd = { [unowned self] error in
            if let error { return fail("control channel broken", error) }
            log.warning("the coordinator is gone")
            finish(within: orphanGrace)
        }
        signals = [SIGTERM, SIGINT].map { number in
            SignalWatcher(number) { [unowned self] in finish(within: signalGrace) }
        }
        return await withCheckedContinuation { ending = $0 }
    }

    package func tell(_ notice: Notice) { control.tell(notice) }

    /// What was told leaves at the end of the loop's turn, or now.
    package func sendNow() { control.sendNow() }

    /// Begins to end; the first call counts.
    package func finish(within grace: Duration, status: Int32 = 0) {
        guard !isFinishing else { return }
        isFinishing = true
        self.status = status
        deadline = Timer { [unowned self] in end() }
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
        log.critical(what, metadata: ["error": "\(error)"])
        status = ChildStatus.broken
        end()
    }
}
