import PushModel
import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// A small farm on a private Redis with four shards and one coordinator, and helpers that make batches and entries.
struct StoreFixture {
    static let shards = 4
    let redis: PrivateRedis
    let keys = Keys(app: "demo")
    let token = FenceToken(Array("1:n1:host".utf8))

    init() throws { try self.init(on: PrivateRedis()) }

    /// Deletes all data in `redis`.
    init(on redis: PrivateRedis) throws {
        self.redis = redis
        try redis.run("FLUSHALL")
        let lease = try perform(acquire("n1"))
        #expect(lease.states.allSatisfy { $0 == .ours(token) })
        try perform(CreateResultsGroup())
    }

    @discardableResult
    func perform<Step: Request>(_ request: Step) throws -> Step.Reply { try redis.perform(request, keys) }

    func acquire(_ nonce: String, predecessor: String = "") -> AcquireLeases {
        AcquireLeases(
            nonce: nonce, host: "host", lifetime: .seconds(600), predecessor: predecessor,
            leases: [.intake] + (0..<Self.shards).map { .shard($0) })
    }

    /// Returns a call that releases leases of the coordinator with the nonce "n1".
    func release(_ leases: [LeaseID]) -> ReleaseLeases {
        ReleaseLeases(
            nonce: "n1",
            tokens: Dictionary(leases.map { ($0, token) }, uniquingKeysWith: { first, _ in first }))
    }

    /// The faults that an audit of the accounting finds.
    func audit() throws -> [String] { try perform(CheckAccounting(shards: Self.shards)) }

    func jobRecord(_ job: String) throws -> JobRecord {
        try #require(JobRecord(id: job, app: "demo", fields: try perform(ReadJobRecord(job: job))))
    }

    static func tokens(_ count: Int, from first: Int = 0) -> [[UInt8]] {
        (first..<first + count).map { number in
            [UInt8](repeating: 7, count: 30) + [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
        }
    }

    /// A batch body with one job part for each job.
    static func body(
        _ jobs: [(id: String, tokens: Int)], delivery: DeliveryGuarantee = .atLeastOnce, attempt: UInt8 = 0
    ) -> [UInt8] {
        var builder = BatchBuilder()
        for job in jobs {
            let head = JobPartHead(
                jobID: job.id, options: PushOptions(delivery: delivery), attempt: attempt)
            Array("{}".utf8).withUnsafeBytes { builder.begin(head, payload: $0) }
            for token in tokens(job.tokens) { token.withUnsafeBytes { builder.append(token: $0) } }
        }
        return builder.finish()!
    }

    /// Makes the intake take jobs and split them into one batch of one shard.
    @discardableResult
    func split(
        step: Int = 1, _ jobs: [(id: String, tokens: Int)], shard: Int = 1, lane: Lane = .high,
        due: Int64 = 0,
        delivery: DeliveryGuarantee = .atLeastOnce
    ) throws -> Split.Reply {
        try perform(PushJob(job: Array("job".utf8)))
        _ = try perform(Take(token: token, known: 0, maxJobs: 1, maxBytes: 1000, maxJobBytes: 1000))
        return try perform(
            splitRequest(step: step, jobs, shard: shard, lane: lane, due: due, delivery: delivery))
    }

    func splitRequest(
        step: Int, _ jobs: [(id: String, tokens: Int)], shard: Int = 1, lane: Lane = .high, due: Int64 = 0,
        delivery: DeliveryGuarantee = .atLeastOnce
    ) -> Split {
        Split(
            token: token, step: step, dropped: 1,
            jobs: jobs.map {
                Split.Job(id: $0.id, opens: true, submitted: $0.tokens, accepted: $0.tokens, lane: lane)
            },
            batches: [
                Split.NewBatch(
                    shard: shard, lane: lane, due: due, tokens: jobs.reduce(0) { $0 + $1.tokens },
                    body: Self.body(jobs, delivery: delivery))
            ])
    }

    func checkout(
        _ worker: String = "w1", credit: Int = 100, most: Int = 8, known: [BatchID]? = [],
        token: FenceToken? = nil
    ) throws -> Checkout.Reply {
        try perform(
            Checkout(
                worker: worker, credit: credit, maxBatches: most, known: known,
                shards: (0..<Self.shards).map { ($0, token ?? self.token) }))
    }

    func report(
        _ batch: Checkout.Batch, _ positions: Range<Int>, entry: [UInt8], worker: String = "w1",
        wanted: Int = 0,
        facts: Bool = true, token: FenceToken? = nil
    ) throws -> Report.Reply {
        var runs = PositionRuns()
        runs.append(positions)
        return try perform(
            Report(
                token: token ?? self.token, worker: worker, batch: batch.id, delivery: batch.delivery,
                wanted: wanted, hasOnlyFacts: facts, runs: runs, entry: entry))
    }

    /// Returns the content of a results entry that reports `count` delivered pushes of a job.
    static func delivered(_ job: String, _ count: Int) -> [UInt8] {
        var builder = ResultsBuilder()
        Array(job.utf8).withUnsafeBytes { builder.beginDelivered(jobID: $0, receipts: .failures) }
        for _ in 0..<count { builder.append(token: UnsafeRawBufferPointer(start: nil, count: 0)) }
        return builder.finish()!
    }

    /// The id of the first job in each batch.
    static func jobs(_ batches: [Checkout.Batch]) throws -> [String] {
        try batches.map { try Batch(decoding: $0.body).jobID(of: 0) }
    }

    /// Makes all delayed pushes due.
    func makeDue() throws {
        for id in try redis.run("ZRANGE", "{pushfarm:demo}:delayed", "0", "-1").array ?? [] {
            try redis.run("ZADD", "{pushfarm:demo}:delayed", "1", id.text ?? "")
        }
    }

    /// All entries of the results stream that no consumer has read yet.
    func results() throws -> [ResultsStreamEntry] {
        try perform(ReadResults(consumer: "g1", .new))
    }

    /// Returns a settlement of a results entry that counts `delivered` pushes of the job as delivered.
    static func settlement(_ record: ResultsStreamEntry, _ job: String, delivered: Int) -> Settlement {
        var settlement = Settlement(entry: record.id)
        var settledCount = Settlement.Job(id: job)
        settledCount.delivered = delivered
        settlement.jobs = [settledCount]
        return settlement
    }

    static let scope = SuppressionScope(environment: "production", topic: "com.example.demo")

    /// An invalid token, as a settlement contains it. By default the gateway has refused the token with BadDeviceToken.
    static func dead(
        _ token: [UInt8], shard: Int = 1, _ reason: SuppressionReason = .badDeviceToken, time: Int64 = 7
    ) -> Settlement.InvalidToken {
        Settlement.InvalidToken(
            shard: shard,
            record: SuppressionRecord(reason: reason, scope: scope.number, time: time, token: token[...]),
            event: FarmEvent(
                .tokenInvalid, job: "j1", token: token[...], reason: reason.name, timestamp: time * 1000))
    }

    /// The suppressed tokens of a shard.
    func suppressed(_ shard: Int = 1) throws -> [SuppressionRecord] {
        try perform(ReadSuppressed(shard: shard)).compactMap(\.record)
    }

    /// The fields of all events, including their type.
    func events() throws -> [[String: String]] {
        let entries = try redis.run("XRANGE", "{pushfarm:demo}:events", "-", "+").array ?? []
        return entries.compactMap { entry in
            let words = (entry.array?.last?.array ?? []).compactMap(\.text)
            return Dictionary(
                uniqueKeysWithValues: stride(from: 0, to: words.count - 1, by: 2).map {
                    (words[$0], words[$0 + 1])
                })
        }
    }
}
