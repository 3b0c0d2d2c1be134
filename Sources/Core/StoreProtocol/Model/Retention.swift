/// How much history an app keeps.
package struct Retention: Hashable, Sendable {
    /// Seconds to keep a job record after its job is finished.
    package var jobRecordSeconds = 72 * 3600
    /// Maximum number of job records. The oldest finished records are deleted first.
    package var jobRecords = 1_000_000
    /// Maximum number of records in a shard's suppression list, or slightly more.
    package var suppressed = 15_625
    /// Percent of bad tokens in the last thousand responses. Above `holdShare`, suppression waits for confirmation. From
    /// `pauseShare` on, the app is paused.
    package var holdShare = 20
    package var pauseShare = 95
    /// Maximum of dead letters, in pushes and in bytes. The oldest are deleted first.
    package var deadLetterPushes = 1_000_000
    package var deadBytes = 256 << 20
    /// Seconds to keep a dead letter.
    package var deadSeconds = 14 * 86_400
    /// Maximum bytes of the audit of outcomes, 0 disables it; and the seconds to keep a record.
    package var auditBytes = 0
    package var auditSeconds = 24 * 3600

    package init() {}
}
