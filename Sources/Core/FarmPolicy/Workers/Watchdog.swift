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
