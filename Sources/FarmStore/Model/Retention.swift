/// How much of the past an app keeps.
package struct Retention: Hashable, Sendable {
    /// Seconds that an account is kept after its job is finished.
    package var accountSeconds = 72 * 3600
    /// Accounts kept at most; the oldest finished ones go first.
    package var accounts = 1_000_000
    /// Dead tokens kept at most.
    package var invalidTokens = 1_000_000

    package init() {}
}
