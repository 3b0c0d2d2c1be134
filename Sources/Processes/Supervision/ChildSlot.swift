package import ControlChannel
package import EventLoop
package import FarmPolicy
import Glibc
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
    private var child: ChildProcess?
    private var control: ControlLink<Order, Notice>?
    private var lastWords: LastWords?
    private var policy: RestartPolicy
    private var random = SystemRandomNumberGenerator()
    private var watchdog = Watchdog(start: .now)
    private var isStopping = false
    /// However the present process ends, no other one follows.
    private var isLast = false
    /// We ended the present process because it no longer did its work.
    private var isCondemned = false
    /// When we did, a user had stopped it: its silence says nothing about its work.
    private var wasStopped = false
    /// An operator has ended the present process.
    private var isKilledByOperator = false
    /// The present process was asked to finish, and another one is to follow.
    private var isBeingReplaced = false
    /// Ends a process that does not finish.
    private var killer: Timer?
    /// Between processes that the system would not start.
    private var shortage: BackOff
    private lazy var shortageTimer = Timer { [unowned self] in start() }
    private var linkEnd: CheckedContinuation<Void, Never>?
    private var emptied: [CheckedContinuation<Void, Never>] = []

    /// What an ended process said is in the channel already.
    private static var longestRead: Duration { .seconds(1) }

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
        (isCondemned, wasStopped, isKilledByOperator, isBeingReplaced) = (false, false, false, false)
        watchdog = Watchdog(start: .now)
        do {
            let child = try makeChild()
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

    package func send(_ order: Order) { control?.send(order) }

    /// Orders that the process has not read yet.
    package var queuedBytes: Int { control?.queuedBytes ?? 0 }

    /// The process has said that it is ready for work.
    package func becameReady() {
        policy.ready(at: .now)
        if state == .starting { state = .ready }
    }

    /// The process has achieved something: its next crash is a first one.
    package func progressed() { policy.progressed() }

    /// Looks whether the process still gives signs of life; one that hangs is ended. To be called every second.
    package func watch(at now: ContinuousClock.Instant = .now) {
        if let lastWords, let child { log(lastWords.lines(), of: child) }
        guard watchdog.check(at: now), let child, child.end == nil else { return }
        wasStopped = child.isStopped
        log.error(
            wasStopped ? "\(role) was stopped by a signal" : "\(role) hangs",
            metadata: ["pid": "\(child.pid)"])
        condemn()
    }

    /// The present process is the last one here, until ``startAgain()``.
    package func retire() { isLast = true }

    /// Starts a process where the last one has ended, or as soon as it has.
    package func startAgain() {
        (isStopping, isLast) = (false, false)
        guard child == nil else { return }
        policy.reset()
        start()
    }

    /// Asks the process to finish. A later call can only shorten the time.
    package func finish(within grace: Duration) {
        send(.finish(withinMilliseconds: UInt32(clamping: grace.milliseconds)))
    }

    /// Asks the process to finish, and kills it when it does not; another one takes its place.
    package func replace(within grace: Duration) {
        guard let child, child.end == nil else { return retry() }
        isBeingReplaced = true
        finish(within: grace)
        kill(child, after: grace + .seconds(3))
    }

    /// Ends the process at once, as an operator wants it: nothing is held against what it was doing.
    /// - Parameter hasTrace: with SIGABRT first, for a trace and a core.
    package func kill(hasTrace: Bool) {
        guard let child, child.end == nil else { return }
        isKilledByOperator = true
        guard hasTrace else { return child.signal(SIGKILL) }
        child.signal(SIGABRT)
        kill(child, after: .seconds(5))
    }

    /// Asks the process to finish, and kills it when it does not. No other one follows.
    package func stop(within grace: Duration) async {
        isStopping = true
        state = .stopped
        guard let child else { return }
        finish(within: grace)
        kill(child, after: grace + .seconds(3))
        await withCheckedContinuation { emptied.append($0) }
        killer?.stop()
    }

    private func kill(_ child: ChildProcess, after grace: Duration) {
        let killer = Timer { [weak child] in child?.signal(SIGKILL) }
        killer.start(after: grace)
        self.killer = killer
    }

    /// Tries again at once in a slot that was given up.
    package func retry() {
        policy.reset()
        if child == nil { start() }
    }

    private func makeChild() throws(LoopError) -> ChildProcess {
        let (ours, theirs) = try SocketPair.make()
        defer { close(theirs) }
        let words = try Self.lastWords(ours)
        defer { words.childHasStarted() }
        do {
            let child = try ChildProcess(
                launch.currentProgram, arguments: ["pushfarm", role] + arguments,
                environment: ChildLaunch.inherited + launch.environment,
                descriptors: [nil, 1, words.writer, theirs, launch.lock, 2]
            ) { [weak self] child in
                if let self { Loop.task { await self.ended(child) } }
            }
            self.child = child
            lastWords = words
            listen(on: ours)
            return child
        } catch {
            close(ours)
            throw error
        }
    }

    /// - Parameter channel: closed when there are no descriptors left.
    private static func lastWords(_ channel: Int32) throws(LoopError) -> LastWords {
        do { return try LastWords() } catch {
            close(channel)
            throw error
        }
    }

    private func log(_ lines: [String], of child: ChildProcess) {
        for line in lines {
            log.error(
                "\(role) wrote to standard error", metadata: ["pid": "\(child.pid)", "text": "\(line)"])
        }
    }

    private func condemn() {
        isCondemned = true
        child?.signal(SIGKILL)
    }

    private func listen(on descriptor: Int32) {
        let control = ControlLink<Order, Notice>(descriptor: descriptor, peer: role)
        control.onMessage = { [unowned self] notice in
            watchdog.sign()
            onNotice(notice)
        }
        control.onEnd = { [unowned self] error in
            if let error {
                log.error("\(role) sent an unreadable message", error: error)
                condemn()
            }
            self.control = nil
            linkEnd?.resume()
            linkEnd = nil
        }
        self.control = control
    }

    private func ended(_ child: ChildProcess) async {
        log(lastWords?.lines(isEnd: true) ?? [], of: child)
        let reason = lastWords?.cause
        lastWords = nil
        let how = child.end.map { "\($0)" } ?? "?"
        var metadata: Logger.Metadata = ["pid": "\(child.pid)", "how": "\(how)"]
        if let signal = child.end?.signalName { metadata["signal"] = "\(signal)" }
        if let reason { metadata["last words"] = "\(reason)" }
        log.log(
            level: isStopping || child.end == .exited(0) ? .info : .error, "\(role) ended",
            metadata: metadata)
        killer?.stop()
        killer = nil
        await readRemainingNotices()
        state = isStopping ? .stopped : .starting
        lastEnd = cause(of: child.end)
        await onEnd(isStopping ? nil : child.end)
        self.child = nil
        for waiter in emptied { waiter.resume() }
        emptied = []
        restartOrGiveUp()
    }

    private func cause(of end: ChildProcess.End?) -> EndCause {
        if isStopping { return .orderly }
        if isKilledByOperator { return .kill }
        if isCondemned { return wasStopped ? .kill : .crash }
        return end?.cause ?? .crash
    }

    /// The news of an end may overtake what the process said before it.
    private func readRemainingNotices() async {
        guard control != nil else { return }
        let limit = Timer { [unowned self] in
            linkEnd?.resume()
            linkEnd = nil
        }
        limit.start(after: Self.longestRead)
        await withCheckedContinuation { linkEnd = $0 }
        limit.stop()
        control?.close()
        control = nil
    }

    private func restartOrGiveUp() {
        guard !isStopping, !isLast else {
            state = .stopped
            return
        }
        if lastEnd != .orderly, !isBeingReplaced, !isKilledByOperator { restarts += 1 }
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
