import PushModel
import RedisProtocol

@testable import RedisClient
@testable import StoreProtocol

/// Start situations that many cases share.
extension StoreFixture {
    /// Runs a command with these words.
    func run(_ words: [String]) throws {
        var command = RESPCommand()
        for word in words { command.append(word) }
        _ = try redis.run(command)
    }

    /// Pushes jobs to the inbox and takes them.
    func take(_ jobs: String...) throws {
        for job in jobs { try perform(PushJob(job: Array(job.utf8))) }
        _ = try perform(Take(token: token, known: 0, maxJobs: 99, maxBytes: 9999, maxJobBytes: 9999))
    }

    /// Returns a call that splits the first two of the five pushes of job "big".
    func firstPart() -> Split {
        Split(
            token: token, step: 1, dropped: 0, head: IntakeHead(job: "big", offset: 2),
            jobs: [Split.Job(id: "big", opens: true, submitted: 5, accepted: 5)],
            batches: [.init(shard: 0, lane: .high, tokens: 2, body: Self.body([("big", 2)]))])
    }

    /// Returns a batch that the worker w1 has checked out.
    func held(
        step: Int = 1, _ jobs: [(id: String, tokens: Int)], lane: Lane = .high, credit: Int = 100
    ) throws -> Checkout.Batch {
        try split(step: step, jobs, lane: lane)
        return try checkout(credit: credit).batches[0]
    }

    /// Makes a delayed batch and returns its id.
    /// After Redis has returned to an earlier state, a worker may have checked out a batch that is delayed in Redis.
    func delayed(_ jobs: [(id: String, tokens: Int)]) throws -> BatchID {
        try split(jobs, due: 4_000_000_000_000)
        return BatchID(
            try redis.run("ZRANGE", "{pushfarm:demo}:delayed", "0", "0").array?.first?.bytes ?? [])
    }

    func reportRequest(
        _ batch: BatchID, _ positions: Range<Int>, wanted: Int = 0, facts: Bool = true, entry: [UInt8]
    ) -> Report {
        var runs = PositionRuns()
        runs.append(positions)
        return Report(
            token: token, worker: "w1", batch: batch, delivery: 1, wanted: wanted,
            hasOnlyFacts: facts, runs: runs, entry: entry)
    }

    func quarantine(_ batch: Checkout.Batch) -> QuarantineBatch {
        QuarantineBatch(
            token: token, worker: "w1", batch: batch.id, delivery: batch.delivery, reason: "unreadable")
    }

    /// Makes batches in ready, bulk and delayed lists and in flight, and a results entry.
    func fillAllLists() throws {
        for step in 1...4 {
            try split(
                step: step, [("j\(step)", step)], shard: step % 2, lane: step > 2 ? .bulk : .high,
                due: step == 4 ? 4_000_000_000_000 : 0)
        }
        let batch = try checkout(most: 1).batches[0]
        _ = try report(batch, 0..<1, entry: Self.delivered("j2", 1))
    }

    /// Returns a call that reclaims the batches of `workers` in all shards. With the default `loss`, the call makes no push a
    /// suspect.
    func reclaim(_ workers: [String], _ loss: WorkerExit = .regular) -> Reclaim {
        Reclaim(.gone(workers), exit: loss, shards: (0..<Self.shards).map { ($0, token) })
    }

    /// Sets the state of a batch: `worker|deliveries|granted|suspicion|open|map`.
    func set(_ batch: BatchID, to state: String) throws {
        try redis.run("HSET", "{pushfarm:demo}:states", "\(batch)", state)
    }

    /// Quarantines a job as if `crashes` crashes had counted against the job.
    func quarantine(_ job: String, crashes: Int = 5) throws {
        let admission = "{pushfarm:demo}:admission"
        try redis.run("HSET", "{pushfarm:demo}:paused_jobs", job, "7")
        try redis.run("HINCRBY", admission, "pauses", "1")
        try redis.run(
            "HSET", "{pushfarm:demo}:job:\(job)", "paused_reason", "poison", "crashes", "\(crashes)",
            "last_crash", "w0")
    }
}
