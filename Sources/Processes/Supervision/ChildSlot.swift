package import ControlChannel
package import EventLoop
package import FarmPolicy
package import Logging

/// What every child of a coordinator understands.
package protocol ChildOrder: ControlMessage {
    static func finish(withinMilliseconds: UInt32) -> Self
}

extension Order: ChildOrder {}
extension IntakeOrder: ChildOrder {}

/// A child's place: the process in it now, the channel to it, and when the next one starts after it has ended.
@Loop package final class ChildSlot<Order: ChildOrder, Notice: ControlMessage> {
    package private(set) var state = ChildState.stopped
    /// Processes that followed one which had crashed or was killed, and that no operator had ended.
    package private(set) var restarts = 0
    /// A process has started; it may be given its first orders.
    package var onStart: @Loop () -> Void = {}
    package var onNotice: @Loop (Notice) -> Void = { _ in }
    /// The process has ended, and everything that it said was heard. The next one starts after the call returns.
    package var onEnd: @Loop (ChildProcess.End?) async -> Void = { _ in }

    /// Why the last process ended.
    package private(set) var lastEnd = EndCause.orderly

    private let role: String
    private let arguments: [String]
    private let launch: ChildLaunch
    private let log: Logger
    private var child: RunningChild<Order, Notice>?
    private var policy: RestartPolicy
    private var random = SystemRandomNumberGenerator()
    private var isStopping = false
    /// However the present process ends, no other one follows.
    private var isLast = false
    /// Between processes that the system would not start.
    private var shortage: BackOff
    private lazy var shortageTimer = Timer { [unowned self] in start() }
    private var emptied: [CheckedContinuation<Void, Never>] = []

    /// - Parameters:
    ///   - role: the program's command for such a child, and what logs call it.
    ///   - arguments: those behind the role.
    ///   - shortage: how long to wait while the system is short of what a process needs; it is never given up.
    ///   - log: with metadata that names the slot.
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
            let child = try RunningChild<Order, Notice>(
                role: role, arguments: arguments, launch: launch, log: log,
                onNotice: { [unowned self] notice in onNotice(notice) },
                onEnd: { [weak self] child in await self?.ended(child) })
            self.child = child
            shortage.succeeded()
            log.info("\(role) started", metadata: ["pid": "\(child.pid)"])
            onStart()
        } catch {
            // No fault of the program's: it has not run.
            let delay = shortage.failed(using: &random)
            log.error(
                "cannot start a process", error: error, metadata: ["role": "\(role)", "retry_in": "\(delay)"])
            state = .backingOff
            shortageTimer.start(after: delay)
        }
    }

    package func send(_ order: Order) { child?.send(order) }

    /// Orders that the process has not read yet.
    package var queuedBytes: Int { child?.queuedBytes ?? 0 }

    /// The process has said that it is ready for work.
    package func becameReady() {
        policy.ready(at: .now)
        if state == .starting { state = .ready }
    }

    /// The process has achieved something: its next crash is a first one.
    package func progressed() { policy.progressed() }

    /// Kills the process if it gives no signs of life. To be called every second.
    package func watch(at now: ContinuousClock.Instant = .now) { child?.watch(at: now) }

    /// The present process is the last one here, until ``startAgain()``.
    package func retire() { isLast = true }

    /// Starts a process where the last one has ended, or as soon as it has.
    package func startAgain() {
        (isStopping, isLast) = (false, false)
        guard child == nil else { return }
        policy.reset()
        start()
    }

    /// Asks the process to finish, and kills it when it does not; another one takes its place.
    package func replace(within grace: Duration) {
        guard let child, child.end == nil else { return retry() }
        child.finish(within: grace, isReplaced: true)
    }

    /// Ends the process at once, as an operator wants it: nothing is held against what it was doing.
    /// - Parameter hasTrace: with SIGABRT first, for a trace and a core.
    package func kill(hasTrace: Bool) { child?.kill(hasTrace: hasTrace) }

    /// Asks a process that is to finish for less time.
    package func finishSooner(within grace: Duration) { child?.askToFinish(within: grace) }

    /// Asks the process to finish, and kills it when it does not. No other one follows.
    package func stop(within grace: Duration) async {
        isStopping = true
        state = .stopped
        guard let child else { return }
        child.finish(within: grace)
        await withCheckedContinuation { emptied.append($0) }
    }

    /// Tries again at once in a slot that was given up.
    package func retry() {
        policy.reset()
        if child == nil { start() }
    }

    private func ended(_ child: RunningChild<Order, Notice>) async {
        await child.readToEnd(isExpected: isStopping)
        state = isStopping ? .stopped : .starting
        lastEnd = isStopping ? .orderly : child.cause
        await onEnd(isStopping ? nil : child.end)
        self.child = nil
        for waiter in emptied { waiter.resume() }
        emptied = []
        restartOrGiveUp(after: child)
    }

    private func restartOrGiveUp(after child: RunningChild<Order, Notice>) {
        guard !isStopping, !isLast else {
            state = .stopped
            return
        }
        if lastEnd != .orderly, !child.isBeingReplaced, !child.isKilledByOperator { restarts += 1 }
        switch policy.ended(lastEnd, at: .now, using: &random) {
        case .giveUp(let starts):
            state = .failed
            log.critical(
                "\(role) is not started again: it failed too often", metadata: ["failed starts": "\(starts)"])
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
