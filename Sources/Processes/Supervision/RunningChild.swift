import ControlChannel
import EventLoop
import FarmPolicy
import Glibc
import Logging

/// One process in a child's slot, with its control channel, its standard error, and the reason for its end.
@Loop final class RunningChild<Message: ChildMessage, Notice: ControlMessage> {
    private let role: String
    private let log: Logger
    private let onNotice: @Loop (Notice) -> Void
    private var process: ChildProcess?
    private var control: ControlLink<Message, Notice>?
    private let standardError: StandardErrorReader
    private var watchdog = Watchdog(start: .now)
    /// Kills a process that does not finish in time.
    private var killer: Timer?
    private var linkEnd: CheckedContinuation<Void, Never>?
    /// Whether this coordinator killed the process because it gave no signs of life.
    private var isKilledAsHanging = false
    /// Whether a signal or a debugger had stopped the process when this coordinator killed it. A stopped process cannot give
    /// signs of life, so this kill does not count as a crash.
    private var wasStopped = false
    private(set) var isKilledByOperator = false
    /// Whether the process was asked to finish so that another process can replace it.
    private(set) var isBeingReplaced = false

    /// The maximum time for reading the remaining messages of an ended process. The time is short, because all messages of the
    /// process are in the channel already.
    private static var longestRead: Duration { .seconds(1) }

    /// Starts the process.
    /// - Parameter onEnd: called once, when the process has ended.
    init(
        role: String, arguments: [String], launch: ChildLaunch, log: Logger,
        onNotice: @escaping @Loop (Notice) -> Void, onEnd: @escaping @Loop (RunningChild) async -> Void
    ) throws(LoopError) {
        (self.role, self.log, self.onNotice) = (role, log, onNotice)
        standardError = try StandardErrorReader()
        let (ours, theirs) = try SocketPair.make()
        defer {
            close(theirs)
            standardError.childHasStarted()
        }
        do throws(LoopError) {
            process = try ChildProcess(
                launch.currentProgram, arguments: ["pushfarm", role] + arguments,
                environment: ChildLaunch.inherited + launch.environment,
                descriptors: [nil, 1, standardError.writer, theirs, launch.lock, 2]
            ) { [weak self] _ in
                if let self { Loop.task { await onEnd(self) } }
            }
        } catch {
            close(ours)
            throw error
        }
        listen(on: ours)
    }

    var pid: Int32 { process?.pid ?? 0 }
    /// How the process ended; nil while it runs.
    var end: ChildProcess.End? { process?.end }
    /// Bytes of messages that the process has not read yet.
    var queuedBytes: Int { control?.queuedBytes ?? 0 }

    /// Classifies the end of the process: regular, crash or kill.
    var cause: EndCause {
        if isKilledByOperator { return .kill }
        if isKilledAsHanging { return wasStopped ? .kill : .crash }
        return end?.cause ?? .crash
    }

    func send(_ message: Message) { control?.send(message) }

    /// Logs the lines that the process wrote to standard error, and kills the process if it gives no signs of
    /// life.
    func watch(at now: ContinuousClock.Instant) {
        logStandardError()
        guard watchdog.check(at: now), let process, end == nil else { return }
        wasStopped = process.isStopped
        log.error(
            wasStopped ? "\(role) was stopped by a signal" : "\(role) hangs", metadata: ["pid": "\(pid)"])
        killHanging()
    }

    /// Asks the process to finish, and kills a process that does not finish in time.
    /// - Parameter isReplaced: whether another process will start in its place.
    func finish(within grace: Duration, isReplaced: Bool = false) {
        isBeingReplaced = isBeingReplaced || isReplaced
        askToFinish(within: grace)
        kill(after: grace + .seconds(3))
    }

    func askToFinish(within grace: Duration) {
        send(.finish(withinMilliseconds: UInt32(clamping: grace.milliseconds)))
    }

    /// Kills the process for an operator.
    /// - Parameter hasTrace: whether to send SIGABRT first, so that Swift can print a backtrace.
    func kill(hasTrace: Bool) {
        guard end == nil else { return }
        isKilledByOperator = true
        guard hasTrace else { return signal(SIGKILL) }
        signal(SIGABRT)
        kill(after: .seconds(5))
    }

    /// Logs how the process ended, and reads its remaining messages. libuv may report the end of the process before these
    /// messages.
    func readToEnd(isExpected: Bool) async {
        killer?.stop()
        logStandardError(isEnd: true)
        var metadata: Logger.Metadata = ["pid": "\(pid)", "how": "\(end.map { "\($0)" } ?? "?")"]
        if let signal = end?.signalName { metadata["signal"] = "\(signal)" }
        if let reason = standardError.cause { metadata["last error"] = "\(reason)" }
        let level: Logger.Level = isExpected || end == .exited(0) ? .info : .error
        log.log(level: level, "\(role) ended", metadata: metadata)
        guard control != nil else { return }
        let limit = Timer { [unowned self] in stopReading() }
        limit.start(after: Self.longestRead)
        await withCheckedContinuation { linkEnd = $0 }
        limit.stop()
        control?.close()
        control = nil
    }

    private func signal(_ number: Int32) { process?.signal(number) }

    private func kill(after grace: Duration) {
        let killer = Timer { [weak self] in self?.signal(SIGKILL) }
        killer.start(after: grace)
        self.killer = killer
    }

    private func killHanging() {
        isKilledAsHanging = true
        signal(SIGKILL)
    }

    private func logStandardError(isEnd: Bool = false) {
        for line in standardError.lines(isEnd: isEnd) {
            log.error(
                "\(role) wrote to standard error", metadata: ["pid": "\(pid)", "text": "\(line)"])
        }
    }

    private func listen(on descriptor: Int32) {
        let control = ControlLink<Message, Notice>(descriptor: descriptor, peer: role)
        control.onMessage = { [unowned self] notice in
            watchdog.sign()
            onNotice(notice)
        }
        control.onEnd = { [unowned self] error in
            if let error {
                log.error("\(role) sent an unreadable message", error: error)
                killHanging()
            }
            self.control = nil
            stopReading()
        }
        self.control = control
    }

    private func stopReading() {
        linkEnd?.resume()
        linkEnd = nil
    }
}
