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
