/// How much history an app keeps.
package struct Retention: Hashable, Sendable {
    /// Seconds to keep a job record after its job is finished.
    package var jobRecordSeconds = 72 * 3600
    /// Maximum number of job records. The oldest finished records are deleted first.
    package var jobRecords = 1_000_000
    /// Maximum number of records in a shard's suppression list. Redis trims a list only approximately, so a list may have
    /// slightly more records.
    package var suppressed = 15_625
    /// If more than this percentage of the last thousand responses report bad tokens, suppressions wait until this percentage
    /// falls or an operator confirms them.
    package var guardHoldShare = 20
    /// If at least this percentage of the last thousand responses report bad tokens, the app is paused.
    package var guardPauseShare = 95
    /// Maximum number of pushes in dead letters. The oldest dead letters are deleted first.
    package var deadLetterPushes = 1_000_000
    /// Maximum bytes of dead letters. The oldest dead letters are deleted first.
    package var deadBytes = 256 << 20
    /// Seconds to keep a dead letter.
    package var deadSeconds = 14 * 86_400
    /// Maximum bytes of the audit of outcomes; 0 disables the audit.
    package var auditBytes = 0
    /// Seconds to keep a record of the audit.
    package var auditSeconds = 24 * 3600

    package init() {}
}
