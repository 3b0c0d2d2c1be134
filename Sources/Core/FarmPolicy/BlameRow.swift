/// Crashes of the intake in a row, without progress between them: after how many the job that it was splitting is refused.
///
/// A job may be so large that the kernel kills its parser, but another user may send a SIGKILL as well: a row with kills
/// has to be longer.
package struct BlameRow: Hashable, Sendable {
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
