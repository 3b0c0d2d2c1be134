import PushModel
import RedisProtocol

@testable import RedisClient
@testable import StoreProtocol

/// Situations that many cases begin with.
extension StoreFixture {
    /// A command of many words.
    func run(_ words: [String]) throws {
        var command = RESPCommand()
        for word in words { command.append(word) }
        _ = try redis.run(command)
    }

    /// Pushes jobs and takes them.
    func take(_ jobs: String...) throws {
        for job in jobs { try perform(PushJob(job: Array(job.utf8))) }
        _ = try perform(Take(token: token, known: 0, maxJobs: 99, maxBytes: 9999, maxJobBytes: 9999))
    }

    /// Two of the five pushes of a job.
    func firstPart() -> Split {
        Split(
            token: token, step: 1, dropped: 0, head: IntakeHead(job: "big", offset: 2),
            jobs: [Split.Job(id: "big", opens: true, submitted: 5, accepted: 5)],
            batches: [.init(shard: 0, lane: .high, tokens: 2, body: Self.body([("big", 2)]))])
    }

    /// A batch in the hands of the worker w1.
    func held(
        step: Int = 1, _ jobs: [(id: String, tokens: Int)], lane: Lane = .high, credit: Int = 100
    ) throws -> Checkout.Batch {
        try split(step: step, jobs, lane: lane)
        return try checkout(credit: credit).batches[0]
    }

    /// A batch that was checked out, and then a Redis that went back to when it was delayed.
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
            isFactsOnly: facts, runs: runs, entry: entry)
    }

    func park(_ batch: Checkout.Batch) -> QuarantineBatch {
        QuarantineBatch(
            token: token, worker: "w1", batch: batch.id, delivery: batch.delivery, reason: "unreadable")
    }

    /// Of all shards; nobody is accused unless the caller says so.
    func reclaim(_ gone: [String], _ loss: WorkerLoss = .unrelated) -> Reclaim {
        Reclaim(.gone(gone), loss: loss, shards: (0..<Self.shards).map { ($0, token) })
    }

    /// A batch as it is in the books: `worker|deliveries|granted|caution|open|map`.
    func set(_ batch: BatchID, to state: String) throws {
        try redis.run("HSET", "{pushfarm:demo}:states", "\(batch)", state)
    }

    /// As after five crashes that accuse the job.
    func quarantine(_ job: String, crashes: Int = 5) throws {
        let gate = "{pushfarm:demo}:admission"
        try redis.run("HSET", "{pushfarm:demo}:paused_jobs", job, "7")
        try redis.run("HINCRBY", gate, "pauses", "1")
        try redis.run(
            "HSET", "{pushfarm:demo}:job:\(job)", "paused_reason", "poison", "crashes", "\(crashes)",
            "last_crash", "w0")
    }
}
