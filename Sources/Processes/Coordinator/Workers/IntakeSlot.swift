import ControlChannel
import EventLoop
import FarmPolicy
import Logging
import Supervision

/// The place of the host's intake: the process in it now, what it is at work on, and its numbers.
@Loop final class IntakeSlot {
    /// The present process's name, unique for every start.
    private(set) var name = ""
    private(set) var heartbeat = IntakeNotice.Heartbeat()
    /// Jobs done with in the last second.
    private(set) var rate: UInt64 = 0

    private let slot: ChildSlot<IntakeOrder, IntakeNotice>
    private let host: String
    private unowned let notices: ChildNotices
    /// Apps whose jobs the process is splitting.
    private var working: Set<String> = []
    private var row = CrashStreak()

    init(host: String, launch: ChildLaunch, notices: ChildNotices, log: Logger) {
        self.host = host
        self.notices = notices
        // There is only one intake: its start is retried for ever.
        var policy = RestartPolicy()
        policy.allowedFailedStarts = .max
        slot = ChildSlot(role: "intake", launch: launch, policy: policy, log: log)
        slot.onStart = { [unowned self] in begin() }
        slot.onNotice = { [unowned self] notice in take(notice) }
        slot.onEnd = { [unowned self] end in
            rate = 0
            guard end != nil, !working.isEmpty, let limit = row.ended(slot.lastEnd) else { return }
            await self.notices.ended(name, atWorkFor: working, limit: limit)
        }
    }

    var pid: Int32 { slot.pid }
    var state: ChildState { slot.state }
    var restarts: Int { slot.restarts }

    func start() { slot.start() }

    func send(_ order: IntakeOrder) { slot.send(order) }

    /// Looks whether the process still gives signs of life; one that hangs is ended.
    func watch() { slot.watch() }

    /// Asks the process to finish, and kills it when it does not; another one takes its place.
    func replace(within grace: Duration) { slot.replace(within: grace) }

    /// Asks the process to finish, and kills it when it does not.
    func stop(within grace: Duration) async { await slot.stop(within: grace) }

    private func begin() {
        name = "\(host)-intake-\(Nonce.make())"
        heartbeat = IntakeNotice.Heartbeat()
        working = []
        notices.started(self)
    }

    private func take(_ notice: IntakeNotice) {
        switch notice {
        case .hello: slot.becameReady()
        case .heartbeat(let numbers):
            rate = numbers.jobs &- heartbeat.jobs
            if rate > 0 {
                slot.progressed()
                row.progressed()
            }
            heartbeat = numbers
        case .works(let app): working.insert(app)
        case .idle(let app): working.remove(app)
        case .delayed, .fenced: break
        }
        notices.noticed(notice)
    }
}
