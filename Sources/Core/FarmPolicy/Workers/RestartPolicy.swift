/// Decides when a child process that exited unexpectedly is started again.
///
/// A process that was ready and was killed from outside or exited in order restarts at once. After two lives in a row
/// shorter than ``shortLife``, it restarts a little later. Crashes without progress between them form a row: the first
/// restart is immediate, the next after 1 s, doubling to 60 s with jitter. A process that repeatedly fails before it is
/// ready is not started again.
package struct RestartPolicy: Hashable, Sendable {
    package enum Decision: Hashable, Sendable {
        case start(after: Duration)
        /// The process is not restarted until ``reset()``, and an alert fires, because it exited this many
        /// times before it was ready.
        case giveUp(failedStarts: Int)
    }

    /// After this uptime, the next crash does not belong to a row.
    package var stableLife: Duration = .seconds(60)
    /// An uptime below this value counts as a short life.
    package var shortLife: Duration = .seconds(1)
    /// The restart delay after short lives.
    package var shortDelay: Duration = .milliseconds(300)
    package var allowedFailedStarts = 3

    private var backOff = BackOff(first: .seconds(1), longest: .seconds(60))
    private var isInRow = false
    private var wasBrief = false
    private var failedStarts = 0
    private var readySince: Instant?

    package init() {}

    /// Notes the first heartbeat that says that the process is ready.
    package mutating func ready(at now: Instant) {
        readySince = now
        failedStarts = 0
    }

    /// Notes progress of the process. The next crash then has another cause than the last one.
    package mutating func progressed() {
        isInRow = false
        backOff.succeeded()
    }

    /// Handles an unexpected exit of the process.
    package mutating func ended(
        _ cause: EndCause, at now: Instant, using random: inout some RandomNumberGenerator
    ) -> Decision {
        defer { readySince = nil }
        guard let readySince else { return endedUnready(cause, using: &random) }
        let life = readySince.duration(to: now)
        if life >= stableLife { progressed() }
        let isBrief = life < shortLife
        defer { wasBrief = isBrief }
        let soon: Decision = .start(after: isBrief && wasBrief ? shortDelay : .zero)
        guard cause == .crash else { return soon }
        guard isInRow else {
            isInRow = true
            return soon
        }
        return .start(after: backOff.failed(using: &random))
    }

    private mutating func endedUnready(
        _ cause: EndCause, using random: inout some RandomNumberGenerator
    ) -> Decision {
        // A kill from outside does not show whether the process would have become ready.
        if cause == .kill { return .start(after: shortDelay) }
        failedStarts += 1
        guard failedStarts < allowedFailedStarts else { return .giveUp(failedStarts: failedStarts) }
        isInRow = true
        return .start(after: backOff.failed(using: &random))
    }

    /// Forgets all failures, because an operator or a new configuration requests another attempt.
    package mutating func reset() {
        progressed()
        wasBrief = false
        failedStarts = 0
        readySince = nil
    }
}

/// Counts crashes of the intake without progress between them. At a limit, the job that it was splitting is refused.
///
/// A job may be so large that the kernel kills the intake, but other causes of SIGKILL exist. A row that contains kills
/// must therefore be longer.
package struct CrashStreak: Hashable, Sendable {
    /// The number of consecutive crashes with the same job that refuses the job.
    package static let crashes = 3
    package static let kills = 6

    private var hasKills = false

    package init() {}

    /// Handles an exit of the intake.
    /// - Returns: the number of exits with the same job, including this one, that refuse it; nil when the
    ///   exit blames no job.
    package mutating func ended(_ cause: EndCause) -> Int? {
        switch cause {
        case .orderly: return nil
        case .kill: hasKills = true
        case .crash: break
        }
        return hasKills ? Self.kills : Self.crashes
    }

    /// Notes that a job is finished, so the next crash has another cause.
    package mutating func progressed() { hasKills = false }
}

/// Why a process exited unexpectedly, as far as the reason concerns its work.
package enum EndCause: Hashable, Sendable {
    /// The process failed itself: a fault, a failing exit status, or a kill because it hung.
    case crash
    /// A SIGKILL from outside: by an operator, or by the kernel when memory ran out.
    case kill
    /// A regular exit: the process finished, was asked to exit, or lost its leases.
    case orderly
}

/// Counts recent kills of this host's workers from outside. A kill proves nothing about a push while other workers
/// are killed too.
package struct RecentKills: Hashable, Sendable {
    package var window: Duration = .seconds(60)
    private var kills: [Instant] = []

    package init() {}

    /// - Returns: the number of kills within the window, including this one.
    package mutating func add(at now: Instant) -> Int {
        kills.removeAll { $0.duration(to: now) > window }
        kills.append(now)
        return kills.count
    }

    /// Forgets the kills, because their cause is known and concerns no push.
    package mutating func explain() { kills = [] }
}

/// Detects that a child process hangs: several checks find no sign of life.
///
/// Only time in which this process itself ran counts. If this process or the machine stopped, the child's signs of
/// life may be unread, or the child may have stopped too.
package struct Watchdog: Hashable, Sendable {
    /// A child hangs after this long without a sign of life.
    package static let timeout = Duration.seconds(10)
    /// The longest time that one check counts; checks are one second apart.
    private static let longestGap = Duration.seconds(2)

    private var lastCheck: Instant
    private var silence = Duration.zero

    /// - Parameter start: when the child was started, which counts as a sign of life.
    package init(start: Instant) { lastCheck = start }

    /// Notes a sign of life.
    package mutating func sign() { silence = .zero }

    /// - Returns: whether the child hangs. Its timeout then restarts.
    package mutating func check(at now: Instant) -> Bool {
        silence += min(now - lastCheck, Self.longestGap)
        lastCheck = now
        guard silence > Self.timeout else { return false }
        silence = .zero
        return true
    }
}
