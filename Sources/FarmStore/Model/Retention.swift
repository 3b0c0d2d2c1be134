/// How much of the past an app keeps.
package struct Retention: Hashable, Sendable {
    /// Seconds that an account is kept after its job is finished.
    package var accountSeconds = 72 * 3600
    /// Accounts kept at most; the oldest finished ones go first.
    package var accounts = 1_000_000
    /// Records that a shard's suppression list keeps at most, or few more.
    package var suppressed = 15_625

    package init() {}
}
