package import PushModel
package import RedisProtocol

/// Turns taken jobs into job records and batches: one step of the intake.
///
/// Bounds, so that Redis is not held up for more than 5 ms, and 10 ms by small jobs: 640 jobs, 128 batches, 16,384 tokens,
/// 256 events.
package struct Split: Request {
    /// A job's part in this step.
    package struct Job: Sendable {
        package var id: String
        /// The first chunk opens the job record, with the numbers of the whole job.
        package var opens: Bool
        package var submitted: Int
        package var accepted: Int
        package var malformed: Int
        package var duplicates: Int
        package var lane: Lane
        /// The job whose pushes this one repeats.
        package var replayOf: String?
        /// A probable mistake in the job; empty: none.
        package var warning: String
        /// Such as malformed tokens.
        package var events: [FarmEvent]

        package init(
            id: String, opens: Bool, submitted: Int, accepted: Int, malformed: Int = 0, duplicates: Int = 0,
            lane: Lane = .high, replayOf: String? = nil, warning: String = "", events: [FarmEvent] = []
        ) {
            (self.replayOf, self.warning) = (replayOf, warning)
            (self.id, self.opens, self.submitted, self.accepted) = (id, opens, submitted, accepted)
            (self.malformed, self.duplicates, self.lane, self.events) = (malformed, duplicates, lane, events)
        }
    }

    package struct NewBatch: Sendable {
        package var shard: Int
        package var lane: Lane
        /// Unix milliseconds before which it waits; 0 for now.
        package var due: Int64
        package var tokens: Int
        /// As `BatchBuilder` makes it.
        package var body: [UInt8]

        package init(shard: Int, lane: Lane, due: Int64 = 0, tokens: Int, body: [UInt8]) {
            (self.shard, self.lane, self.due, self.tokens, self.body) = (shard, lane, due, tokens, body)
        }
    }

    package enum Reply: Equatable, Sendable {
        /// The shards that have new batches, and when the first of the delayed ones is due. `isDrained`: nothing is taken
        /// or in the inbox, and the app has room: there is nothing to take.
        case done(woken: [Int], nextDue: Duration?, isDrained: Bool)
        /// This step was done before: the reply was lost.
        case doneBefore
    }

    package static var script: Script? { .split }

    package var token: FenceToken
    /// The last step + 1.
    package var step: Int
    /// Taken jobs that are wholly split with this step.
    package var dropped: Int
    /// The first job that then remains, when a part of it is split.
    package var head: IntakeHead?
    package var jobs: [Job]
    package var batches: [NewBatch]
    package var retention: Retention
    /// The one job that this is about, when it came by ``NextJob``: nothing is done unless it is all that is taken.
    package var alone: [UInt8]

    package init(
        token: FenceToken, step: Int, dropped: Int, head: IntakeHead? = nil, jobs: [Job], batches: [NewBatch],
        retention: Retention = Retention(), alone: [UInt8] = []
    ) {
        (self.token, self.step, self.dropped, self.head) = (token, step, dropped, head)
        (self.jobs, self.batches, self.retention, self.alone) = (jobs, batches, retention, alone)
    }

    package var words: [any CommandWord] {
        [
            ScriptKeys.prefixAndInbox, token, step, dropped, head?.job, head?.offset ?? 0,
            retention.jobRecords, retention.jobRecordSeconds, jobs.count, batches.count, WordList(jobs),
            WordList(batches), alone,
        ]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        guard try reader.flag() else { return .doneBefore }
        let next = try reader.duration()
        let isDrained = try reader.flag()
        return .done(woken: try reader.remainingShards(), nextDue: next, isDrained: isDrained)
    }
}

extension Split.Job: CommandWord {
    package func write(to command: inout RESPCommand, _ keys: Keys) {
        command.append(id)
        command.append(opens ? "1" + (replayOf ?? "") : "0")
        command.append(submitted)
        command.append(accepted)
        command.append(malformed)
        command.append(duplicates)
        command.append(lane.name)
        command.append(opens ? warning : "")
        WordList(events, isCounted: true).write(to: &command, keys)
    }
}

extension Split.NewBatch: CommandWord {
    package func write(to command: inout RESPCommand, _ keys: Keys) {
        command.append(LeaseField.name(ofShard: shard))
        command.append(lane == .high ? "h" : "b")
        command.append(due)
        command.append(tokens)
        command.append(body)
    }
}
