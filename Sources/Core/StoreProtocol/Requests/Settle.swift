package import PushModel
package import RedisProtocol

/// The effects of one results entry. The coordinator computes the effects, and Redis applies them once.
package struct Settlement: Sendable {
    /// The changes to one job record. Each of the job's positions in the entry is counted once: in `delivered`, `failed`,
    /// `expired`, `cancelled` or `delayed`.
    package struct Job: Sendable {
        package var id: String
        package var delivered = 0
        package var failed = 0
        package var expired = 0
        package var cancelled = 0
        /// Pushes that are retried. ``Settlement/retries`` contains the same pushes.
        package var delayed = 0
        /// Pushes that are retried although they may have been delivered.
        package var maybeDuplicated = 0
        /// The number of failed pushes for each reason. Each reason becomes a field of the job record, so the caller must limit
        /// the number of reasons.
        package var reasons: [String: Int] = [:]

        package init(id: String) { self.id = id }
    }

    package struct Retry: Sendable {
        package var shard: Int
        package var lane: Lane
        package var delay: Duration
        package var tokens: Int
        /// The pushes of the retry batch, encoded by `BatchBuilder`.
        package var body: [UInt8]

        package init(shard: Int, lane: Lane, delay: Duration, tokens: Int, body: [UInt8]) {
            (self.shard, self.lane, self.delay, self.tokens, self.body) = (shard, lane, delay, tokens, body)
        }
    }

    /// An unregistered or invalid token.
    package struct InvalidToken: Sendable {
        package var shard: Int
        /// Whether a screening found the token. The guard counts tokens from screenings separately.
        package var isScreened = false
        /// The record for the shard's suppression list; nil adds no record.
        package var record: SuppressionRecord?
        package var event: FarmEvent

        package init(shard: Int, record: SuppressionRecord?, event: FarmEvent) {
            (self.shard, self.record, self.event) = (shard, record, event)
        }
    }

    /// Pushes of one job that failed for the same reason, though their tokens are valid. The dead letter contains all data that a
    /// replay of the pushes needs.
    package struct NewDeadLetter: Sendable {
        package var job: String
        package var reason: String
        /// The gateway's status; 0 if the gateway sent none.
        package var status: Int
        package var pushes: Int
        /// The pushes as one job part, encoded by `BatchBuilder`.
        package var body: [UInt8]

        package init(job: String, reason: String, status: Int = 0, pushes: Int, body: [UInt8]) {
            (self.job, self.reason, self.status, self.pushes) = (job, reason, status, pushes)
            self.body = body
        }
    }

    /// The unreadable part of an entry. The pushes in this part fail with the reason ``FarmReason/unreadable``.
    package struct Unreadable: Sendable {
        package var why: String
        package var pushes: Int
        /// The bytes of the whole entry, which Redis keeps.
        package var original: [UInt8]

        package init(why: String, pushes: Int, original: [UInt8]) {
            (self.why, self.pushes, self.original) = (why, pushes, original)
        }
    }

    package var entry: EntryID
    package var jobs: [Job] = []
    package var retries: [Retry] = []
    package var letters: [NewDeadLetter] = []
    package var unreadable: Unreadable?
    /// The number of gateway responses in the entry, without responses to pushes of screenings.
    package var responses = 0
    /// The number of gateway responses in the entry to pushes of screenings.
    package var screened = 0
    package var invalidTokens: [InvalidToken] = []
    /// The scopes that the suppression records in ``invalidTokens`` use.
    package var scopes: Set<SuppressionScope> = []
    package var events: [FarmEvent] = []
    /// The record for the audit of outcomes, encoded by `AuditRecord`; empty adds no record.
    package var audit: [UInt8] = []
    /// The batch's lane, for metrics only.
    package var lane = Lane.high
    /// The number of retries for each cause, for metrics only.
    package var retried: [(cause: RetryCause, count: Int)] = []

    package init(entry: EntryID) { self.entry = entry }
}

extension Settlement {
    /// Returns the words for the script: the entry's id, the number of words that follow, and these words.
    fileprivate func words(_ retention: Retention) -> [any CommandArgument] {
        var packed: [UInt8] = []
        packed.reserveCapacity(jobs.count * 48)
        for job in jobs { job.write(to: &packed) }
        var words: [any CommandArgument] = [
            packed, ArgumentList(retries, isCounted: true),
            screened > 0 ? "\(responses)/\(screened)" : "\(responses)",
            ArgumentList(invalidTokens, isCounted: true), ArgumentList(events, isCounted: true),
        ]
        if !letters.isEmpty {
            words += [
                "letters", letters.count, retention.deadLetterPushes, retention.deadBytes,
                ArgumentList(letters),
            ]
        }
        if let unreadable {
            words += ["unreadable", unreadable.why, unreadable.pushes, unreadable.original]
        }
        if !audit.isEmpty { words += ["audit", retention.auditBytes, audit] }
        return [entry, CountedArguments(words: words)]
    }
}

/// Writes the number of words in a list, then the words. The number includes the words of nested lists.
private struct CountedArguments: CommandArgument {
    let words: [any CommandArgument]

    func write(to command: inout RESPCommand, _ keys: Keys) {
        var part = RESPCommand()
        for word in words { word.write(to: &part, keys) }
        command.append(part.argumentCount)
        command.append(argumentsOf: part)
    }
}

extension Settlement.Retry: CommandArgument {
    package func write(to command: inout RESPCommand, _ keys: Keys) {
        command.append(LeaseID.name(ofShard: shard))
        command.append(lane == .high ? "h" : "b")
        command.append(delay.wholeMilliseconds)
        command.append(tokens)
        command.append(body)
    }
}

extension Settlement.InvalidToken: CommandArgument {
    package func write(to command: inout RESPCommand, _ keys: Keys) {
        command.append(LeaseID.name(ofShard: shard) + (isScreened ? "s" : ""))
        command.append(record?.bytes ?? [])
        event.write(to: &command, keys)
    }
}

extension Settlement.NewDeadLetter: CommandArgument {
    package func write(to command: inout RESPCommand, _ keys: Keys) {
        command.append(job)
        command.append(reason)
        command.append(status)
        command.append(pushes)
        command.append(body)
    }
}

extension Settlement.Job {
    /// Maximum bytes of a reason in the job record.
    private static let reasonLimit = 64

    fileprivate func write(to packed: inout [UInt8]) {
        packed.append(short: id)
        for count in [delivered, failed, expired, cancelled, delayed, maybeDuplicated] {
            packed.append(bigEndian: count)
        }
        let reasons = reasons.prefix(255)
        packed.append(UInt8(reasons.count))
        for (reason, count) in reasons {
            packed.append(short: String(decoding: reason.utf8.prefix(Self.reasonLimit), as: UTF8.self))
            packed.append(bigEndian: count)
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(short text: String) {
        precondition(text.utf8.count <= 255, "an id or a reason has at most 255 bytes")
        append(UInt8(text.utf8.count))
        append(contentsOf: text.utf8)
    }

    fileprivate mutating func append(bigEndian count: Int) {
        Swift.withUnsafeBytes(of: UInt32(clamping: count).bigEndian) { append(contentsOf: $0) }
    }
}

/// Settles results entries, each at most once. A call writes each job record only once, so it is faster to settle many entries in
/// one call.
///
/// `SettleCalls` limits a call to 64 entries, 256 jobs, 1,024 events, and 64 retries and dead letters in total, so that the call
/// blocks Redis for at most 5 ms.
package struct Settle: Request {
    package struct Reply: Equatable, Sendable {
        /// The number of entries that this call settled.
        package let settledCount: Int
        package let finishedJobs: Int
        /// Why the guard paused the app; nil if this call did not pause the app.
        package var guardPause: GuardPause?
    }

    /// The guard paused the app because too many of the last responses reported bad tokens.
    package struct GuardPause: Equatable, Sendable {
        package let bad: Int
        package let responses: Int
    }

    package static var script: Script? { .settle }

    package var settlements: [Settlement]
    package var retention: Retention

    package init(_ settlements: [Settlement], retention: Retention = Retention()) {
        (self.settlements, self.retention) = (settlements, retention)
    }

    package var words: [any CommandArgument] {
        let scopes = settlements.reduce(into: Set<SuppressionScope>()) { $0.formUnion($1.scopes) }
        return [
            ScriptKeys.prefix, retention.jobRecordSeconds,
            "\(retention.suppressed) \(retention.guardHoldShare) \(retention.guardPauseShare)", scopes,
            settlements.count, ArgumentList(settlements.flatMap { $0.words(retention) }),
        ]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        var reply = Reply(settledCount: try reader.integer(), finishedJobs: try reader.integer())
        if !reader.isAtEnd {
            reply.guardPause = GuardPause(bad: try reader.integer(), responses: try reader.integer())
        }
        return reply
    }
}
