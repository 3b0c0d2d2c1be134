/// Decides when a child process that exited unexpectedly is started again.
///
/// A process that was ready and was killed from outside or exited regularly restarts at once. After two uptimes in a row below
/// ``shortLife``, the process restarts after ``shortDelay``. If a process crashes several times without progress between the
/// crashes, the first restart is immediate, the second restart comes after 1 s, and the delay doubles up to 60 s, with jitter. A
/// process that repeatedly fails before it is ready is not started again.
package struct RestartPolicy: Hashable, Sendable {
    package enum Decision: Hashable, Sendable {
        case start(after: Duration)
        /// The process is not restarted until ``reset()``, and an alert fires, because it exited this many
        /// times before it was ready.
        case giveUp(failedStarts: Int)
    }

    /// A crash after this uptime counts as a first crash, so the restart is immediate.
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

    /// Notes progress of the process. The next crash counts as a first crash.
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

/// Chooses after how many exits of the intake in a row with one job that job is refused.
///
/// A job may be so large that the kernel kills the intake, but SIGKILL also has other causes. Therefore, the limit is higher if
/// one of the exits was a SIGKILL.
package struct CrashStreak: Hashable, Sendable {
    /// After this many consecutive crashes with one job, the job is refused. If one of the exits was a SIGKILL, ``kills``
    /// applies.
    package static let crashes = 3
    package static let kills = 6

    private var hasKills = false

    package init() {}

    /// Handles an exit of the intake.
    /// - Returns: the number of consecutive exits with one job, including this exit, at which the job is refused; nil
    ///   if this exit counts against no job.
    package mutating func ended(_ cause: EndCause) -> Int? {
        switch cause {
        case .regular: return nil
        case .kill: hasKills = true
        case .crash: break
        }
        return hasKills ? Self.kills : Self.crashes
    }

    /// Notes that a job is finished. A later crash then has another cause than earlier crashes, so earlier kills no longer raise
    /// the limit.
    package mutating func progressed() { hasKills = false }
}

/// Why a process exited unexpectedly. The cause shows whether the work of the process may be responsible.
package enum EndCause: Hashable, Sendable {
    /// The process itself failed: it crashed, exited with a failure status, or was killed because it hung.
    case crash
    /// A SIGKILL from outside: by an operator, or by the kernel when memory ran out.
    case kill
    /// A regular exit: the process finished, was asked to exit, or lost its leases.
    case regular
}

/// Counts recent SIGKILLs that this host's workers got from outside. If other workers are killed too, a kill is no sign that a
/// push crashes its worker.
package struct RecentKills: Hashable, Sendable {
    package var window: Duration = .seconds(60)
    private var kills: [Instant] = []

    package init() {}

    /// - Returns: the number of kills within the window, including this kill.
    package mutating func add(at now: Instant) -> Int {
        kills.removeAll { $0.duration(to: now) > window }
        kills.append(now)
        return kills.count
    }

    /// Forgets the kills, because their cause is known and concerns no push.
    package mutating func forgetAll() { kills = [] }
}

/// Detects that a child process hangs: several checks find no sign of life.
///
/// Only time in which this process itself ran counts. While this process or the machine was stopped, this process could not read
/// signs of life, and the child may have been stopped too.
package struct Watchdog: Hashable, Sendable {
    /// A child counts as hung after this long without a sign of life.
    package static let timeout = Duration.seconds(10)
    /// Maximum silence that one check adds; checks are one second apart.
    private static let longestGap = Duration.seconds(2)

    private var lastCheck: Instant
    private var silence = Duration.zero

    /// - Parameter start: when the child was started, which counts as a sign of life.
    package init(start: Instant) { lastCheck = start }

    /// Notes a sign of life.
    package mutating func sign() { silence = .zero }

    /// - Returns: whether the child hangs. If the child hangs, the timeout restarts.
    package mutating func check(at now: Instant) -> Bool {
        silence += min(now - lastCheck, Self.longestGap)
        lastCheck = now
        guard silence > Self.timeout else { return false }
        silence = .zero
        return true
    }
}
