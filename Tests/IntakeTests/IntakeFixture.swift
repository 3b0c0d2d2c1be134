import ControlChannel
import EventLoop
import FarmHarness
import FarmPolicy
import Logging
import LoopTesting
import POSIX
import PushModel
import RedisClient
import RedisProtocol
import Scheduling
import StoreProtocol
import Testing

@testable import Coordinator
@testable import Intake
@testable import JobSplitting

/// The intake, the results consumer and the promoter of one app, with their own Redis server and a worker whose outcomes the test
/// chooses.
@Loop final class IntakeFixture {
    /// The outcome that the worker reports for a push.
    enum Response {
        case accept
        case refuse(reason: String, isInvalidToken: Bool)
        case fail(RetryCause)
    }

    static let shards = 8

    let redis: RedisConnection
    let fixture: AppContext
    let promoter: Promoter
    let consumer: ResultsConsumer
    private(set) var intake: AppIntake
    private let server: RedisServer
    private let subscriber: RedisSubscriber
    private let setup = IntakeSetup(
        name: "demo", topic: "com.example.demo", maxJobBytes: 1 << 20, maxTokens: 5000, jobRecords: 1_000_000,
        jobRecordSeconds: 72 * 3600)
    private var leases: [FenceToken] = []
    private var hosts = 0
    /// The number of sent tokens by job.
    private(set) var sent: [String: Int] = [:]
    private(set) var readyShards: Set<Int> = []
    /// The notices that the intake sent to its coordinator.
    private(set) var notices: [IntakeNotice] = []

    nonisolated static func run(
        limits: StepLimits = StepLimits(), _ body: @escaping @Loop (IntakeFixture) async throws -> Void
    ) async throws {
        try await onLoop {
            let farm = try IntakeFixture(RedisServer(scratch: []), limits)
            try await LoopTesting.run {
                try await farm.open()
                try await body(farm)
            } cleaningUp: {
                await farm.close()
            }
        }
    }

    private init(_ server: RedisServer, _ limits: StepLimits) {
        self.server = server
        let address = RedisAddress(endpoint: .unix(path: server.socket))
        let settings = RedisSettings(address: address, clientName: "test")
        redis = RedisConnection(settings)
        var policy = RetryPolicy()
        policy.usual = (first: .milliseconds(40), longest: .milliseconds(100))
        fixture = AppContext(
            "demo",
            SharedAppContext(redis: redis, host: "here", shards: Self.shards, log: Self.log, retry: policy))
        promoter = Promoter(fixture)
        consumer = ResultsConsumer(fixture, claimInterval: .milliseconds(100))
        subscriber = RedisSubscriber(settings, channels: [fixture.keys.wakeUps])
        intake = AppIntake(
            IntakeContext(redis: redis, shards: Self.shards, log: Self.log) { _ in }, setup,
            zones: Self.zones(), limits: limits)
        intake = makeIntake(limits)
        fixture.shardsReady = { [unowned self] in readyShards.formUnion($0) }
        subscriber.onMessage = { [unowned self] _, message in
            let names = String(decoding: message, as: UTF8.self).split(separator: " ")
            readyShards.formUnion(names.compactMap { Int($0) })
        }
    }

    private static let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func makeIntake(_ limits: StepLimits) -> AppIntake {
        let context = IntakeContext(redis: redis, shards: Self.shards, log: Self.log) {
            [unowned self] notice in
            notices.append(notice)
            if case .delayed(_, let milliseconds) = notice {
                fixture.onDelayedBatches(.milliseconds(milliseconds))
            }
        }
        return AppIntake(context, setup, zones: Self.zones(), limits: limits)
    }

    private static func zones() -> ZoneCatalog { ZoneCatalog { path in try? SmallFile.read(path) } }

    private func open() async throws {
        redis.start()
        await redis.whenReady()
        let ear = AsyncEvent()
        subscriber.onReady = { ear.signal() }
        subscriber.start()
        await ear.wait(atMost: .seconds(20))
        try await takeLeases()
    }

    private func close() async {
        await intake.stop()
        await consumer.stop()
        await promoter.stop()
        subscriber.close()
        redis.close()
    }

    /// Gives all leases to a new owner, so that Redis refuses calls with the fencing tokens of the old owner.
    func takeLeases() async throws {
        hosts += 1
        let wanted: [LeaseID] = [.intake] + (0..<Self.shards).map { .shard($0) }
        let reply = try await perform(
            AcquireLeases(
                nonce: "n\(hosts)", host: "here", lifetime: .seconds(60), predecessor: "n\(hosts - 1)",
                leases: wanted))
        leases = reply.states.compactMap { if case .ours(let token) = $0 { token } else { nil } }
        #expect(leases.count == wanted.count)
        intake.setFenceToken(leases[0])
    }

    /// The fencing token of the current owner of the intake.
    var intakeToken: FenceToken { leases[0] }

    /// Stops the intake, and starts another intake that takes over the leases.
    func replaceIntake(limits: StepLimits = StepLimits()) async throws {
        await intake.stop()
        intake = makeIntake(limits)
        try await takeLeases()
        intake.start()
    }

    func perform<Step: Request>(_ request: Step) async throws -> Step.Reply {
        try await fixture.store.perform(request)
    }

    @discardableResult func run(_ words: String...) async throws -> RESPValue {
        var command = RESPCommand()
        for word in words { command.append(word) }
        return try await redis.call(command)
    }

    func submit(_ jobs: JobText...) async throws {
        for job in jobs { _ = try await perform(PushJob(job: job.bytes)) }
    }

    func until(_ what: String, _ isTrue: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while try await !isTrue() {
            guard ContinuousClock.now < end else { throw TestFailure(what: what) }
            try await Loop.sleep(for: .milliseconds(2))
        }
    }

    func isFinished(_ job: String) async throws -> Bool {
        try await fixture.store.jobRecord(of: job)?.state == .finished
    }

    func jobRecord(_ job: String) async throws -> JobRecord {
        try #require(try await fixture.store.jobRecord(of: job))
    }

    /// Checks that the accounting is correct.
    func audit() async throws {
        #expect(try await perform(CheckAccounting(shards: Self.shards)) == [])
    }

    /// All events. Each event is a dictionary of its fields.
    func events() async throws -> [[String: String]] {
        try await stream(fixture.keys.events)
    }

    func stream(_ key: [UInt8]) async throws -> [[String: String]] {
        let reply = try await run("XRANGE", String(decoding: key, as: UTF8.self), "-", "+")
        return (reply.array ?? []).map { entry in
            let words = entry.array?.last?.array?.compactMap(\.text) ?? []
            return Dictionary(
                stride(from: 0, to: words.count, by: 2).map { (words[$0], words[$0 + 1]) },
                uniquingKeysWith: { $1 })
        }
    }
}

struct TestFailure: Error { var what: String }

// MARK: The worker

extension IntakeFixture {
    /// Checks out every ready batch and reports the result of `response` for each push.
    /// - Returns: the number of sent pushes.
    @discardableResult func work(
        _ response: (_ job: String, _ token: [UInt8], _ attempt: Int) -> Response = { _, _, _ in .accept }
    ) async throws -> Int {
        var pushes = 0
        while true {
            let shards = (0..<Self.shards).map { (number: $0, token: leases[1 + $0]) }
            let reply = try await perform(
                Checkout(worker: "w", credit: 100_000, maxBatches: 16, known: [], shards: shards))
            if reply.batches.isEmpty { return pushes }
            for batch in reply.batches { pushes += try await report(batch, response) }
            consumer.wake()
        }
    }

    private func report(
        _ checkout: Checkout.Batch, _ response: (String, [UInt8], Int) -> Response
    ) async throws -> Int {
        let batch = try Batch(decoding: checkout.body)
        var builder = ResultsBuilder()
        var hasOnlyFacts = true
        for position in batch.pushes.indices {
            let push = batch.pushes[position]
            let jobPart = batch.jobParts[Int(push.jobPart)]
            let token = Array(batch.bytes[push.token])
            let job = batch.jobID(of: Int(push.jobPart))
            #expect(ShardHash.shard(of: token, shards: Self.shards) == checkout.id.shard)
            sent["\(job) \(token)", default: 0] += 1
            let response = response(job, token, Int(jobPart.attempt))
            if case .fail = response { hasOnlyFacts = false }
            append(response, jobPart, job, push, batch, &builder)
        }
        var runs = PositionRuns()
        runs.append(batch.pushes.indices)
        let reply = try await perform(
            Report(
                token: leases[1 + checkout.id.shard], worker: "w", batch: checkout.id,
                delivery: checkout.delivery, wanted: 0, hasOnlyFacts: hasOnlyFacts, runs: runs,
                entry: builder.finish() ?? []))
        guard case .taken(let state) = reply, state.isDone else { throw TestFailure(what: "\(reply)") }
        return batch.pushes.count
    }

    private func append(
        _ response: Response, _ jobPart: Batch.JobPart, _ job: String, _ push: Batch.Push, _ batch: Batch,
        _ builder: inout ResultsBuilder
    ) {
        batch.bytes.withUnsafeBytes { bytes in
            let id = UnsafeRawBufferPointer(rebasing: bytes[jobPart.jobID])
            let token = UnsafeRawBufferPointer(rebasing: bytes[push.token])
            let payload = UnsafeRawBufferPointer(rebasing: bytes[push.payload])
            switch response {
            case .accept:
                builder.beginDelivered(jobID: id, receipts: jobPart.options.receipts)
                builder.append(token: token)
            case .refuse(let reason, false):
                let head = JobPartHead(
                    repeating: jobPart, jobID: job, attempt: jobPart.attempt, cause: "")
                builder.beginDeadLetter(
                    head, payload: jobPart.hasPayloadPerPush ? .init(start: nil, count: 0) : payload,
                    reason: reason, status: 400)
                if jobPart.hasPayloadPerPush {
                    builder.append(token: token, payload: payload)
                } else {
                    builder.append(token: token)
                }
            case .refuse(let reason, let isInvalidToken):
                builder.beginFailed(
                    jobID: id, reason: reason, status: 410, isInvalidToken: isInvalidToken,
                    scope: "production com.example.demo",
                    receipts: jobPart.options.receipts)
                builder.append(token: token, timestamp: 1)
            case .fail(let cause):
                let head = JobPartHead(
                    repeating: jobPart, jobID: job, attempt: jobPart.attempt + 1, cause: "ServiceUnavailable")
                builder.beginRetry(
                    head, payload: jobPart.hasPayloadPerPush ? .init(start: nil, count: 0) : payload,
                    why: cause, status: 503, reason: "ServiceUnavailable")
                if jobPart.hasPayloadPerPush {
                    builder.append(token: token, payload: payload)
                } else {
                    builder.append(token: token)
                }
            }
        }
    }
}
