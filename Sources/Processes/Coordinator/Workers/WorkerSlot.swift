import ControlChannel
import EventLoop
import Logging
import Supervision

/// The slot of one worker: the worker's current process, the name of this process in Redis, and the numbers of its last
/// heartbeat.
@Loop final class WorkerSlot {
    let index: Int
    /// The name of the current process in Redis. Every start of a process gets a new name.
    private(set) var name = ""
    private(set) var heartbeat = WorkerNotice.Heartbeat()
    /// The number of this worker's pushes that were settled in the last second.
    private(set) var rate: UInt64 = 0
    /// The share of the time between the last two heartbeats in which the process ran on a processor or waited for one.
    private(set) var busy = 0.0
    private var heartbeatAt: ContinuousClock.Instant?
    /// When the current process was started, in Unix milliseconds.
    private(set) var since: Int64 = 0

    /// Whether the current process has sent a heartbeat.
    var hasHeartbeat: Bool { heartbeatAt != nil }

    /// Starts, watches and ends the slot's process.
    let child: ChildSlot<WorkerMessage, WorkerNotice>
    private let host: String
    private unowned let notices: ChildNotices

    init(index: Int, host: String, launch: ChildLaunch, notices: ChildNotices, log: Logger) {
        self.index = index
        self.host = host
        self.notices = notices
        var log = log
        log[metadataKey: "worker"] = "\(index)"
        child = ChildSlot(role: "worker", arguments: ["\(index)"], launch: launch, log: log)
        child.onStart = { [unowned self] in begin() }
        child.onNotice = { [unowned self] notice in handle(notice) }
        child.onEnd = { [unowned self] _ in
            (rate, busy) = (0, 0)
            await self.notices.ended(self, name: name, cause: child.lastEnd)
        }
    }

    /// Whether the process reads its messages too slowly, for example because it is suspended. Messages that can wait are
    /// not sent to such a process.
    var lags: Bool { child.queuedBytes > 64 << 10 }

    /// Replaces the process, or starts a process if no process is running.
    func replaceOrStart() {
        if child.pid > 0, child.state != .stopped {
            child.replace(within: .seconds(20))
        } else {
            child.startAgain()
        }
    }

    private func begin() {
        name = "\(host)-\(index)-\(Nonce.make())"
        heartbeat = WorkerNotice.Heartbeat()
        heartbeatAt = nil
        since = WallClock.seconds * 1000
        notices.started(self)
    }

    private func handle(_ notice: WorkerNotice) {
        switch notice {
        case .hello: child.becameReady()
        case .heartbeat(let numbers):
            let settled = numbers.delivered &+ numbers.failed
            rate = settled &- (heartbeat.delivered &+ heartbeat.failed)
            if rate > 0 { child.progressed() }
            measure(numbers)
            heartbeat = numbers
        case .reported: child.progressed()
        default: break
        }
        notices.noticed(notice, self)
    }

    private func measure(_ numbers: WorkerNotice.Heartbeat) {
        let now = ContinuousClock.now
        if let heartbeatAt, heartbeatAt < now {
            let time = numbers.processorTaken &+ numbers.processorQueued
            let before = heartbeat.processorTaken &+ heartbeat.processorQueued
            busy = min(1, Double(time &- before) / ((now - heartbeatAt) / .microseconds(1)))
        }
        heartbeatAt = now
    }
}
