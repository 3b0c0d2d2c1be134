package import ControlChannel
package import EventLoop
package import FarmPolicy
package import Logging

/// Orders that every child of a coordinator understands.
package protocol ChildMessage: ControlMessage {
    static func finish(withinMilliseconds: UInt32) -> Self
}

extension WorkerMessage: ChildMessage {}
extension IntakeMessage: ChildMessage {}

/// A place for a child process. A slot has one process at a time, and starts the next process after the current process has
/// ended.
@Loop package final class ChildSlot<Message: ChildMessage, Notice: ControlMessage> {
    package private(set) var state = ChildState.stopped
    /// How often a new process replaced a crashed or killed process. Kills by an operator do not count.
    package private(set) var restarts = 0
    /// Called when a process has started and can get its first messages.
    package var onStart: @Loop () -> Void = {}
    package var onNotice: @Loop (Notice) -> Void = { _ in }
    /// Called when the process has ended and all its notices were handled. The next process starts after the
    /// call returns.
    package var onEnd: @Loop (ChildProcess.End?) async -> Void = { _ in }

    /// Why the last process ended.
    package private(set) var lastEnd = EndCause.regular

    private let role: String
    private let arguments: [String]
    private let launch: ChildLaunch
    private let log: Logger
    private var child: RunningChild<Message, Notice>?
    private var policy: RestartPolicy
    private var random = SystemRandomNumberGenerator()
    private var isStopping = false
    /// Whether no process follows the current process, however the current process ends.
    private var isLast = false
    /// The delays between attempts to start a process while the system refuses to start processes.
    private var shortage: BackOff
    private lazy var shortageTimer = Timer { [unowned self] in start() }
    private var emptied: [CheckedContinuation<Void, Never>] = []

    /// - Parameters:
    ///   - role: the program's subcommand for the child, and the child's name in logs.
    ///   - arguments: the arguments after the role.
    ///   - shortage: the delays between attempts while the system lacks resources for a process. The number of attempts is not
    ///     limited.
    ///   - log: a logger with metadata that names the slot.
    package init(
        role: String, arguments: [String] = [], launch: ChildLaunch, policy: RestartPolicy = RestartPolicy(),
        shortage: BackOff = BackOff(first: .milliseconds(500), longest: .seconds(10)), log: Logger
    ) {
        (self.role, self.arguments, self.launch) = (role, arguments, launch)
        (self.policy, self.shortage, self.log) = (policy, shortage, log)
    }

    package var pid: Int32 { child?.pid ?? 0 }
    package var isReady: Bool { state == .ready }

    package func start() {
        guard child == nil, !isStopping, !isLast else { return }
        state = .starting
        do {
            let child = try RunningChild<Message, Notice>(
                role: role, arguments: arguments, launch: launch, log: log,
                onNotice: { [unowned self] notice in onNotice(notice) },
                onEnd: { [weak self] child in await self?.ended(child) })
            self.child = child
            shortage.succeeded()
            log.info("\(role) started", metadata: ["pid": "\(child.pid)"])
            onStart()
        } catch {
            // The program has not run, so this failure does not count as a crash of the program.
            let delay = shortage.failed(using: &random)
            log.error(
                "cannot start a process", error: error, metadata: ["role": "\(role)", "retry_in": "\(delay)"])
            state = .backingOff
            shortageTimer.start(after: delay)
        }
    }

    package func send(_ message: Message) { child?.send(message) }

    /// Bytes of messages that the process has not read yet.
    package var queuedBytes: Int { child?.queuedBytes ?? 0 }

    /// Notes that the process has reported that it is ready for work.
    package func becameReady() {
        policy.ready(at: .now)
        if state == .starting { state = .ready }
    }

    /// Notes that the process has made progress: the count of consecutive crashes starts again at 0.
    package func progressed() { policy.progressed() }

    /// Kills the process if it gives no signs of life. Call it every second.
    package func watch(at now: ContinuousClock.Instant = .now) { child?.watch(at: now) }

    /// Makes the current process the last process in this slot, until ``startAgain()``.
    package func retire() { isLast = true }

    /// After ``retire()`` or ``stop(within:)``, allows new processes again: starts a process now, or when the current process has
    /// ended.
    package func startAgain() {
        (isStopping, isLast) = (false, false)
        guard child == nil else { return }
        policy.reset()
        start()
    }

    /// Asks the process to finish, and kills a process that does not finish in time. Then another process starts in this slot.
    package func replace(within grace: Duration) {
        guard let child, child.end == nil else { return retry() }
        child.finish(within: grace, isReplaced: true)
    }

    /// Kills the process at once for an operator. This kill does not count as a crash, so the pushes or the job of the process do
    /// not become suspect.
    /// - Parameter hasTrace: whether to send SIGABRT first, so that Swift can print a backtrace.
    package func kill(hasTrace: Bool) { child?.kill(hasTrace: hasTrace) }

    /// Shortens the grace period of a process that was asked to finish.
    package func finishSooner(within grace: Duration) { child?.askToFinish(within: grace) }

    /// Asks the process to finish, and kills a process that does not finish in time. No other process follows.
    package func stop(within grace: Duration) async {
        isStopping = true
        state = .stopped
        guard let child else { return }
        child.finish(within: grace)
        await withCheckedContinuation { emptied.append($0) }
    }

    /// Starts a process at once, also in a slot whose processes crashed too often (``ChildState/failed``).
    package func retry() {
        policy.reset()
        if child == nil { start() }
    }

    private func ended(_ child: RunningChild<Message, Notice>) async {
        await child.readToEnd(isExpected: isStopping)
        state = isStopping ? .stopped : .starting
        lastEnd = isStopping ? .regular : child.cause
        await onEnd(isStopping ? nil : child.end)
        self.child = nil
        for waiter in emptied { waiter.resume() }
        emptied = []
        restartOrGiveUp(after: child)
    }

    private func restartOrGiveUp(after child: RunningChild<Message, Notice>) {
        guard !isStopping, !isLast else {
            state = .stopped
            return
        }
        if lastEnd != .regular, !child.isBeingReplaced, !child.isKilledByOperator { restarts += 1 }
        switch policy.ended(lastEnd, at: .now, using: &random) {
        case .giveUp(let starts):
            state = .failed
            log.critical(
                "\(role) failed too often and is not restarted", metadata: ["failed starts": "\(starts)"])
        case .start(let delay):
            guard delay > .zero else { return start() }
            state = .backingOff
            Loop.task {
                try await Loop.sleep(for: delay)
                self.start()
            }
        }
    }
}
