import ControlChannel
import EventLoop
import FarmPolicy
import Logging
import Supervision

/// One worker's place: the process in it now, its name in Redis, and its numbers.
@Loop final class WorkerSlot {
    let index: Int
    /// The present process's name in Redis, unique for every start.
    private(set) var name = ""
    private(set) var heartbeat = Notice.Heartbeat()
    /// Pushes settled in the last second.
    private(set) var rate: UInt64 = 0
    /// The part of a processor that the process took or stood in line for, between its last two heartbeats.
    private(set) var busy = 0.0
    private var heartbeatAt: ContinuousClock.Instant?
    /// When the present process was started, in Unix milliseconds.
    private(set) var since: Int64 = 0

    /// The present process has sent a heartbeat.
    var hasHeartbeat: Bool { heartbeatAt != nil }

    private let slot: ChildSlot<Order, Notice>
    private let host: String
    private unowned let notices: ChildNotices

    init(index: Int, host: String, launch: ChildLaunch, notices: ChildNotices, log: Logger) {
        self.index = index
        self.host = host
        self.notices = notices
        var log = log
        log[metadataKey: "worker"] = "\(index)"
        slot = ChildSlot(role: "worker", arguments: ["\(index)"], launch: launch, log: log)
        slot.onStart = { [unowned self] in begin() }
        slot.onNotice = { [unowned self] notice in take(notice) }
        slot.onEnd = { [unowned self] _ in
            (rate, busy) = (0, 0)
            await self.notices.ended(self, name: name, cause: slot.lastEnd)
        }
    }

    var pid: Int32 { slot.pid }
    var state: ChildState { slot.state }
    var isReady: Bool { slot.isReady }
    var restarts: Int { slot.restarts }

    func start() { slot.start() }

    func send(_ order: Order) { slot.send(order) }

    /// The process is stopped or lags: it is not sent what can wait.
    var lags: Bool { slot.queuedBytes > 64 << 10 }

    /// Kills the process if it gives no signs of life.
    func watch() { slot.watch() }

    /// Asks the process to finish, and kills it when it does not.
    func stop(within grace: Duration) async { await slot.stop(within: grace) }

    /// A process that was asked to finish has less time for it.
    func finishSooner(within grace: Duration) { slot.finish(within: grace) }

    /// Kills the process, as an operator wants it: the pushes that it had in flight are not suspected.
    func kill(hasTrace: Bool) { slot.kill(hasTrace: hasTrace) }

    /// No process follows the present one, until ``startAgain()``.
    func retire() { slot.retire() }

    /// Starts a process where there is none, or as soon as the present one has ended.
    func startAgain() { slot.startAgain() }

    /// Replaces the process; where there is none, starts one.
    func replaceOrStart() {
        if pid > 0, state != .stopped { slot.replace(within: .seconds(20)) } else { startAgain() }
    }

    /// Tries again at once in a slot that was given up.
    func retry() { slot.retry() }

    private func begin() {
        name = "\(host)-\(index)-\(Nonce.make())"
        heartbeat = Notice.Heartbeat()
        heartbeatAt = nil
        since = WallClock.seconds * 1000
        notices.started(self)
    }

    private func take(_ notice: Notice) {
        switch notice {
        case .hello: slot.becameReady()
        case .heartbeat(let numbers):
            let settled = numbers.delivered &+ numbers.failed
            rate = settled &- (heartbeat.delivered &+ heartbeat.failed)
            if rate > 0 { slot.progressed() }
            measure(numbers)
            heartbeat = numbers
        case .reported: slot.progressed()
        default: break
        }
        notices.noticed(notice, self)
    }

    private func measure(_ numbers: Notice.Heartbeat) {
        let now = ContinuousClock.now
        if let heartbeatAt, heartbeatAt < now {
            let time = numbers.processorTaken &+ numbers.processorQueued
            let before = heartbeat.processorTaken &+ heartbeat.processorQueued
            busy = min(1, Double(time &- before) / ((now - heartbeatAt) / .microseconds(1)))
        }
        heartbeatAt = now
    }
}
