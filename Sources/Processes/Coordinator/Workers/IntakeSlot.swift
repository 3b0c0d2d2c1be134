import ControlChannel
import EventLoop
import FarmPolicy
import Logging
import Supervision

/// The slot of the host's intake: the current process, the apps whose jobs the process is splitting, and the numbers of
/// its last heartbeat.
@Loop final class IntakeSlot {
    /// The name of the current process. Every start of a process gets a new name.
    private(set) var name = ""
    private(set) var heartbeat = IntakeNotice.Heartbeat()
    /// The number of jobs finished in the last second.
    private(set) var rate: UInt64 = 0

    /// Starts, watches and ends the slot's process.
    let child: ChildSlot<IntakeMessage, IntakeNotice>
    private let host: String
    private unowned let notices: ChildNotices
    /// Apps whose jobs the process is splitting.
    private var working: Set<String> = []
    private var streak = CrashStreak()

    init(host: String, launch: ChildLaunch, notices: ChildNotices, log: Logger) {
        self.host = host
        self.notices = notices
        // A host has only one intake and cannot do without it, so a failed start is retried without limit.
        var policy = RestartPolicy()
        policy.allowedFailedStarts = .max
        child = ChildSlot(role: "intake", launch: launch, policy: policy, log: log)
        child.onStart = { [unowned self] in begin() }
        child.onNotice = { [unowned self] notice in handle(notice) }
        child.onEnd = { [unowned self] end in
            rate = 0
            guard end != nil, !working.isEmpty, let limit = streak.ended(child.lastEnd) else { return }
            await self.notices.ended(name, atWorkFor: working, limit: limit)
        }
    }

    private func begin() {
        name = "\(host)-intake-\(Nonce.make())"
        heartbeat = IntakeNotice.Heartbeat()
        working = []
        notices.started(self)
    }

    private func handle(_ notice: IntakeNotice) {
        switch notice {
        case .hello: child.becameReady()
        case .heartbeat(let numbers):
            rate = numbers.jobs &- heartbeat.jobs
            if rate > 0 {
                child.progressed()
                streak.progressed()
            }
            heartbeat = numbers
        case .works(let app): working.insert(app)
        case .idle(let app): working.remove(app)
        case .delayed, .fenced: break
        }
        notices.noticed(notice)
    }
}
