package import PushModel
package import RedisProtocol

/// Performs one step of the intake: creates job records and batches from taken jobs.
///
/// A call is limited to 640 jobs, 128 batches, 16,384 tokens and 256 events, so that Redis is blocked for at most 5 ms, or 10 ms
/// with small jobs.
package struct Split: Request {
    /// The part of one job that this step splits.
    package struct Job: Sendable {
        package var id: String
        /// Whether this step is the job's first. The first step creates the job record with the counts of the whole job.
        package var opens: Bool
        package var submitted: Int
        package var accepted: Int
        package var malformed: Int
        package var duplicates: Int
        /// The number of recipients without a token, which have no push.
        package var unknownRecipients: Int
        /// The number of pushes that were left out because of the budget of background pushes.
        package var capped: Int
        package var lane: Lane
        /// The job whose pushes this job replays; nil if this job is no replay.
        package var replayOf: String?
        /// A warning about a probable mistake in the job; empty if there is none.
        package var warning: String
        /// Events for producers, for example about malformed tokens.
        package var events: [FarmEvent]

        package init(
            id: String, opens: Bool, submitted: Int, accepted: Int, malformed: Int = 0, duplicates: Int = 0,
            unknownRecipients: Int = 0, capped: Int = 0, lane: Lane = .high, replayOf: String? = nil,
            warning: String = "", events: [FarmEvent] = []
        ) {
            (self.unknownRecipients, self.capped) = (unknownRecipients, capped)
            (self.replayOf, self.warning) = (replayOf, warning)
            (self.id, self.opens, self.submitted, self.accepted) = (id, opens, submitted, accepted)
            (self.malformed, self.duplicates, self.lane, self.events) = (malformed, duplicates, lane, events)
        }
    }

    package struct NewBatch: Sendable {
        package var shard: Int
        package var lane: Lane
        /// The due time in Unix milliseconds; 0 means now.
        package var due: Int64
        package var tokens: Int
        /// The pushes, encoded by `BatchBuilder`.
        package var body: [UInt8]

        package init(shard: Int, lane: Lane, due: Int64 = 0, tokens: Int, body: [UInt8]) {
            (self.shard, self.lane, self.due, self.tokens, self.body) = (shard, lane, due, tokens, body)
        }
    }

    package enum Reply: Equatable, Sendable {
        /// The step is done. `woken` are the shards with new batches, and `nextDue` is the time until the first new delayed batch
        /// is due. `isInboxEmpty` is true if neither `taken` nor the inbox contains a job and the app is not full.
        case done(woken: [Int], nextDue: Duration?, isInboxEmpty: Bool)
        /// An earlier call did this step, and its reply was lost.
        case doneBefore
    }

    package static var script: Script? { .split }

    package var token: FenceToken
    /// The number of the last step plus 1.
    package var step: Int
    /// The number of taken jobs that are completely split after this step.
    package var dropped: Int
    /// The first job that remains in `taken` after this step, if a part of it is split; otherwise nil.
    package var head: IntakeHead?
    package var jobs: [Job]
    package var batches: [NewBatch]
    package var retention: Retention
    /// The job's bytes, if the job came from ``NextJob``; otherwise empty. If they are not empty, the step happens only if this
    /// job is the only taken job.
    package var movedJob: [UInt8]

    package init(
        token: FenceToken, step: Int, dropped: Int, head: IntakeHead? = nil, jobs: [Job], batches: [NewBatch],
        retention: Retention = Retention(), movedJob: [UInt8] = []
    ) {
        (self.token, self.step, self.dropped, self.head) = (token, step, dropped, head)
        (self.jobs, self.batches, self.retention, self.movedJob) = (jobs, batches, retention, movedJob)
    }

    package var words: [any CommandArgument] {
        [
            ScriptKeys.prefixAndInbox, token, step, dropped, head?.job, head?.offset ?? 0,
            retention.jobRecords, retention.jobRecordSeconds, jobs.count, batches.count, ArgumentList(jobs),
            ArgumentList(batches), movedJob,
        ]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        guard try reader.flag() else { return .doneBefore }
        let next = try reader.duration()
        let isInboxEmpty = try reader.flag()
        return .done(woken: try reader.remainingShards(), nextDue: next, isInboxEmpty: isInboxEmpty)
    }
}

extension Split.Job: CommandArgument {
    package func write(to command: inout RESPCommand, _ keys: Keys) {
        command.append(id)
        command.append(opens ? "1" + (replayOf ?? "") : "0")
        command.append(submitted)
        command.append(accepted)
        command.append(malformed)
        command.append(duplicates)
        command.append(unknownRecipients)
        command.append(capped)
        command.append(lane.name)
        command.append(opens ? warning : "")
        ArgumentList(events, isCounted: true).write(to: &command, keys)
    }
}

extension Split.NewBatch: CommandArgument {
    package func write(to command: inout RESPCommand, _ keys: Keys) {
        command.append(LeaseID.name(ofShard: shard))
        command.append(lane == .high ? "h" : "b")
        command.append(due)
        command.append(tokens)
        command.append(body)
    }
}
