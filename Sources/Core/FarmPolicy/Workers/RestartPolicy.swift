/// When the process in one child's place is started again after it ended unasked.
///
/// A process that was ready and is ended from outside, or in order, starts again at once; when two in a row lasted less
/// than ``brief``, a little later. Crashes count as a row while nothing is achieved between them: the first is answered
/// at once, then 1 s, doubling to 60 s, with jitter. A process that never gets ready is not started for ever.
package struct RestartPolicy: Hashable, Sendable {
    package enum Decision: Hashable, Sendable {
        case start(after: Duration)
        /// Started no more, with an alarm, until ``reset()``: it ended this many times without having been
        /// ready.
        case giveUp(failedStarts: Int)
    }

    /// A process that was up for this long is sound: its next crash is a single one.
    package var calm: Duration = .seconds(60)
    /// A process that was up for less hardly lived.
    package var brief: Duration = .seconds(1)
    /// Between an end and the next start when lives are brief.
    package var shortDelay: Duration = .milliseconds(300)
    package var allowedFailedStarts = 3

    private var backOff = BackOff(first: .seconds(1), longest: .seconds(60))
    private var isInRow = false
    private var wasBrief = false
    private var failedStarts = 0
    private var readySince: Instant?

    package init() {}

    /// The process was started and has sent its first ready beat.
    package mutating func ready(at now: Instant) {
        readySince = now
        failedStarts = 0
    }

    /// The process has made progress: the next crash has another cause than the last one.
    package mutating func progressed() {
        isInRow = false
        backOff.succeeded()
    }

    /// The process ended without having been asked to.
    package mutating func ended(
        _ cause: EndCause, at now: Instant, using random: inout some RandomNumberGenerator
    ) -> Decision {
        defer { readySince = nil }
        guard let readySince else { return endedUnready(cause, using: &random) }
        let life = readySince.duration(to: now)
        if life >= calm { progressed() }
        let isBrief = life < brief
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
        // Another's act says nothing about whether it would have got ready.
        if cause == .kill { return .start(after: shortDelay) }
        failedStarts += 1
        guard failedStarts < allowedFailedStarts else { return .giveUp(failedStarts: failedStarts) }
        isInRow = true
        return .start(after: backOff.failed(using: &random))
    }

    /// Forgets all failures: an operator, or a new configuration, wants another try.
    package mutating func reset() {
        progressed()
        wasBrief = false
        failedStarts = 0
        readySince = nil
    }
}

/// Crashes of the intake in a row, without progress between them: after how many the job that it was splitting is refused.
///
/// A job may be so large that the kernel kills its parser, but another user may send a SIGKILL as well: a row with kills
/// has to be longer.
package struct CrashStreak: Hashable, Sendable {
    /// Ends that are one job's doing: one among others, the rest alone.
    package static let crashes = 3
    package static let kills = 6

    private var hasKills = false

    package init() {}

    /// The intake has ended.
    /// - Returns: how many ends with the same job, with this one, refuse it; nil when it blames no job.
    package mutating func ended(_ cause: EndCause) -> Int? {
        switch cause {
        case .orderly: return nil
        case .kill: hasKills = true
        case .crash: break
        }
        return hasKills ? Self.kills : Self.crashes
    }

    /// A job is done with: what ends the intake next is not what ended it before.
    package mutating func progressed() { hasKills = false }
}

/// Why a process exited without an order, as far as that says anything about its work.
package enum EndCause: Hashable, Sendable {
    /// By its own doing: a fault, an exit status that says so, or it hung and was ended for that.
    case crash
    /// By SIGKILL from outside: an operator, or a kernel that is out of memory.
    case kill
    /// In order: it finished, it was asked to, or it lost its leases.
    case orderly
}

/// How often workers of this host were killed from outside lately: a kill says nothing about a push while others are
/// killed too.
package struct RecentKills: Hashable, Sendable {
    package var window: Duration = .seconds(60)
    private var kills: [Instant] = []

    package init() {}

    /// - Returns: kills within the window, with this one.
    package mutating func add(at now: Instant) -> Int {
        kills.removeAll { $0.duration(to: now) > window }
        kills.append(now)
        return kills.count
    }

    /// The cause of what there was is found: it speaks neither for nor against other pushes.
    package mutating func explain() { kills = [] }
}

/// Detects that a child process hangs: it gives no sign of life at several checks.
///
/// Only time counts in which we looked ourselves. When this process stood still, or the machine, the child's signs may
/// be waiting to be read, or it stood still as well.
package struct Watchdog: Hashable, Sendable {
    /// Without a sign of life for so long a child hangs.
    package static let timeout = Duration.seconds(10)
    /// What one look counts at most; looks are a second apart.
    private static let longestGap = Duration.seconds(2)

    private var lastCheck: Instant
    private var silence = Duration.zero

    /// - Parameter start: when the child was started, which is a sign of life.
    package init(start: Instant) { lastCheck = start }

    /// A sign of life.
    package mutating func sign() { silence = .zero }

    /// - Returns: whether the child hangs. For further checks its timeout begins again.
    package mutating func check(at now: Instant) -> Bool {
        silence += min(now - lastCheck, Self.longestGap)
        lastCheck = now
        guard silence > Self.timeout else { return false }
        silence = .zero
        return true
    }
}
