/// How much of the past an app keeps.
package struct Retention: Hashable, Sendable {
    /// Seconds that a job record is kept after its job is finished.
    package var jobRecordSeconds = 72 * 3600
    /// Job records kept at most; the oldest finished ones go first.
    package var jobRecords = 1_000_000
    /// Records that a shard's suppression list keeps at most, or few more.
    package var suppressed = 15_625
    /// Percent of bad tokens among the last thousand answers above which no more are suppressed until they are confirmed, and from
    /// which on the app is paused.
    package var holdShare = 20
    package var pauseShare = 95
    /// Dead letters kept at most, in pushes and in bytes; the oldest go first.
    package var deadPushes = 1_000_000
    package var deadBytes = 256 << 20
    /// Seconds that a dead letter is kept.
    package var deadSeconds = 14 * 86_400
    /// Bytes of the audit kept at most, 0: there is none; and for how many seconds.
    package var auditBytes = 0
    package var auditSeconds = 24 * 3600

    package init() {}
}
