package import RedisProtocol

/// The counts of one job. At any time: accepted = delivered + failed + expired + cancelled + queued + in flight +
/// delayed.
package struct JobRecord: Equatable, Sendable {
    package enum State: String, Sendable { case open, finished }

    package var id: String
    package var app: String
    package var state: State
    /// Number of pushes in the job: accepted + malformed + duplicates.
    package var submitted = 0
    package var accepted = 0
    /// Whether a campaign may add pushes to the job. Such a job is not finished, even if it has no open push.
    package var isAdding = false
    package var malformed = 0
    package var duplicates = 0
    /// Number of recipients without a token, which have no push.
    package var unknownRecipients = 0
    /// The pushes that were left out because of the budget of background pushes.
    package var capped = 0
    package var delivered = 0
    package var failed = 0
    package var expired = 0
    package var cancelled = 0
    /// Pushes in batches that a worker checked out, and pushes that are reported but not yet settled.
    package var inFlight = 0
    /// Pushes that are delayed until their start or until a retry.
    package var delayed = 0
    /// At most this many pushes were sent more than once.
    package var maybeDuplicated = 0
    /// When the job was split, in Unix milliseconds of Redis's clock.
    package var createdAt: Int64 = 0
    package var finishedAt: Int64?
    /// When an outcome was last settled; 0 if none was settled, for example because the job finished at its split.
    package var lastOutcomeAt: Int64 = 0
    /// Worker crashes that count against the job.
    package var crashes = 0
    /// Why the job is paused; nil if it is not paused.
    package var pausedReason: String?
    /// The job whose dead letters this job replays; nil if this job is no replay.
    package var replayOf: String?
    /// How many pushes in dead letters of this job were replayed.
    package var replayed = 0
    /// A warning about a probable mistake in the accepted job; nil if there is none.
    package var warning: String?
    /// Number of failed pushes for each reason.
    package var reasons: [String: Int] = [:]

    package var queued: Int { accepted - delivered - failed - expired - cancelled - inFlight - delayed }

    package init(id: String, app: String, state: State) {
        (self.id, self.app, self.state) = (id, app, state)
    }
}

/// Reads a job record.
package struct ReadJobRecord: Request {
    package let words: [any CommandArgument]

    package init(job: String) {
        words = ["HGETALL", AppKey { $0.jobRecord(job) }]
    }

    /// The record's fields, for ``JobRecord/init(id:app:fields:)``; empty if the job record does not exist.
    package static func read(_ value: RESPValue) throws(StoreError) -> [String: String] {
        guard value.array != nil else { throw .unexpectedReply("\(Self.self)") }
        return value.fields
    }
}

extension JobRecord {
    /// Reads the fields of a job record; nil if they are not valid.
    package init?(id: String, app: String, fields: [String: String]) {
        guard let state = fields["state"].flatMap(State.init(rawValue:)) else { return nil }
        self.init(id: id, app: app, state: state)
        func number(_ name: String) -> Int { fields[name].flatMap { Int(foreign: $0) } ?? 0 }
        submitted = number("submitted")
        // The record's `adding` is 1 while a campaign may add pushes, and the record's `accepted` includes this 1.
        isAdding = number("adding") > 0
        accepted = number("accepted") - (isAdding ? 1 : 0)
        malformed = number("malformed")
        duplicates = number("duplicates")
        unknownRecipients = number("unknown_recipients")
        capped = number("capped")
        delivered = number("delivered")
        failed = number("failed")
        expired = number("expired")
        cancelled = number("cancelled")
        inFlight = number("in_flight")
        delayed = number("delayed")
        maybeDuplicated = number("maybe_duplicated")
        crashes = number("crashes")
        pausedReason = fields["paused_reason"]
        replayOf = fields["replay_of"]
        warning = fields["warning"]
        replayed = number("replayed")
        createdAt = Int64(number("created_at"))
        lastOutcomeAt = Int64(number("last_outcome_at"))
        finishedAt = fields["finished_at"].flatMap { Int64(foreign: $0) }
        for (name, count) in fields where name.hasPrefix("reason:") {
            reasons[String(name.dropFirst(7))] = Int(foreign: count) ?? 0
        }
    }
}

/// Reads ids of jobs, latest first. The record of a returned id may be deleted before the caller reads it.
package struct LatestJobs: Request {
    package typealias Reply = [String]

    package let words: [any CommandArgument]

    /// - Parameter start: number of latest jobs to skip.
    package init(from start: Int = 0, count: Int) {
        words = ["ZREVRANGE", AppKey(\.jobs), start, start + count - 1]
    }
}
