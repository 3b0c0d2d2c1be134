import APNs
import BatchTesting
import ControlChannel
import EventLoop
import FarmHarness
import FarmPolicy
import Foundation
import Gateway
import Logging
import LoopTesting
import OpenSSL
import PushModel
import RedisClient
import RedisProtocol
import Simulator
import StoreProtocol
import Testing

@testable import Delivery
@testable import Worker

/// The sender of one app between its own Redis server and a simulated gateway.
@Loop final class SenderFixture {
    static let shards = 4
    let sender: AppSender
    let gateway: SimulatedGateway
    /// The notices that the sender sent to the coordinator.
    let notices = Mailbox<WorkerNotice>()
    let server: RedisServer
    let redis: RedisConnection
    let context: WorkerContext
    private let folder: String
    private var leases: [FenceToken] = []
    private var step = 0
    private(set) var pushes = 0

    nonisolated static func run(
        _ change: (inout SimulatorOptions) -> Void = { _ in },
        _ body: @escaping @Loop (SenderFixture) async throws -> Void
    ) async throws {
        var options = SimulatorOptions()
        change(&options)
        let asked = options
        try await onLoop { () async throws -> Void in
            let farm = try await SenderFixture(asked)
            try await LoopTesting.run {
                try await body(farm)
            } cleaningUp: {
                farm.sender.stop()
                farm.redis.close()
                farm.gateway.stop()
                try FileManager.default.removeItem(atPath: farm.folder)
            }
        }
    }

    private init(_ options: SimulatorOptions) async throws {
        server = try RedisServer(scratch: [])
        folder = NSTemporaryDirectory() + "pushfarm-worker-\(UUID().uuidString.prefix(8))"
        var options = options
        options.port = 0
        options.folder = folder
        options.countsDistinct = true
        gateway = try await SimulatedGateway.start(options, log: Logger(label: "simulator"))
        redis = RedisConnection(
            RedisSettings(address: RedisAddress(endpoint: .unix(path: server.socket)), clientName: "test")
        )
        let notices = notices
        let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        context = WorkerContext(redis: redis, name: "w1", index: 0, log: silent) { notices.put($0) }
        context.sendDeadline = SendDeadline(end: .max)
        sender = AppSender(context, app: "demo")
        redis.start()
        await redis.whenReady()
        let reply = try await sender.store.perform(
            AcquireLeases(
                nonce: "n1", host: "here", lifetime: .seconds(600),
                leases: [.intake] + (0..<Self.shards).map { .shard($0) }))
        leases = reply.states.compactMap { if case .ours(let token) = $0 { token } else { nil } }
        assignAll()
    }

    /// Assigns all shards to the sender.
    func assignAll() {
        sender.assign(
            Dictionary(uniqueKeysWithValues: (0..<Self.shards).map { ($0, leases[1 + $0]) }))
    }

    /// Gives the sender a plan with these credentials.
    ///
    /// - Parameters:
    ///   - most: the maximum of connections.
    ///   - kept: the number of connections that stay open at any load.
    ///   - port: the port of another gateway with the same identity.
    func apply(
        generation: UInt32 = 1, tokenAge: Int64 = 0, timeout: Duration = .seconds(20),
        environment: String = "", most: Int = 1, kept: Int = 1, longestRetryAfter: Duration = .seconds(600),
        port: UInt16? = nil
    ) throws {
        var settings = ClientSettings(trust: .authorityFile(gateway.credentials.authorityFile))
        settings.applicationProtocols = ["h2"]
        let signer = try SigningKey(file: gateway.credentials.signingKeyFile)
        let token = ProviderToken.make(
            keyID: SimulatorCredentials.keyID, teamID: SimulatorCredentials.teamID,
            issuedAt: Int64(Date().timeIntervalSince1970) - tokenAge
        ) { signer.sign($0) }
        var plan = GatewaySettings(
            host: "localhost", port: port ?? gateway.port, tls: try TLSContext(client: settings),
            providerToken: token,
            generation: generation, requestTimeout: timeout, connections: most, firstAddress: 0)
        plan.governor = GovernorSettings(connections: kept)
        plan.longestRetryAfter = longestRetryAfter
        sender.apply(plan, topic: "com.example.demo", environment: environment)
    }

    /// Puts a job with batches of these sizes into Redis and sends a wake-up.
    /// - Parameter first: the number of the first device. Nil selects devices that have had no push yet.
    func submit(
        _ sizes: [Int], options: PushOptions = PushOptions(), lane: Lane = .high, from first: Int? = nil
    ) async throws {
        step += 1
        let total = sizes.reduce(0, +)
        _ = try await sender.store.perform(PushJob(job: Array("job".utf8)))
        _ = try await sender.store.perform(
            Take(token: leases[0], known: 0, maxJobs: 1, maxBytes: 1000, maxJobBytes: 1000))
        var batches: [Split.NewBatch] = []
        for (index, size) in sizes.enumerated() {
            let part = Batches.Part(job: "job\(step)", options: options, count: size)
            batches.append(
                Split.NewBatch(
                    shard: index % Self.shards, lane: lane, tokens: size,
                    body: Batches.body([part], from: first ?? pushes)))
            pushes += size
        }
        _ = try await sender.store.perform(
            Split(
                token: leases[0], step: step, dropped: 1,
                jobs: [Split.Job(id: "job\(step)", opens: true, submitted: total, accepted: total)],
                batches: batches))
        sender.window.shards.allMayHaveBatches()
        sender.schedule()
    }

    /// Executes a command of the simulator.
    func order(_ line: String) throws {
        _ = try gateway.carryOut(FaultCommand(line, now: Int64(Date().timeIntervalSince1970 * 1000)))
    }

    private func entries() async throws -> [WorkerReport] {
        var command = RESPCommand()
        for word in ["XRANGE", "{pushfarm:demo}:results", "-", "+"] { command.append(word) }
        return try await (redis.call(command).array ?? []).compactMap { entry in
            let fields = entry.array?.last?.array ?? []
            guard fields.count >= 2, let bytes = fields[1].bytes else { return nil }
            return try WorkerReport(decoding: bytes)
        }
    }

    /// The pushes to retry, with the cause and the minimum delay in seconds.
    func retries() async throws -> [(why: RetryCause, seconds: Int)] {
        try await entries().flatMap(\.items).compactMap { item in
            guard case .retry(let retry) = item.result else { return nil }
            return (retry.why, Int(retry.retryAfterMilliseconds) / 1000)
        }
    }

    /// The pushes in the results stream, counted by outcome.
    func results() async throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for entry in try await entries() {
            for item in entry.items {
                switch item.result {
                case .delivered: counts["delivered", default: 0] += item.count
                case .failed, .letter: counts["failed", default: 0] += item.count
                case .expired: counts["expired", default: 0] += item.count
                case .retry(let retry): counts["retry \(retry.why)", default: 0] += item.count
                }
            }
        }
        return counts
    }

    /// The minimum delays of retries in the results stream, in milliseconds.
    func retryAfters() async throws -> [UInt32] {
        var command = RESPCommand()
        for word in ["XRANGE", "{pushfarm:demo}:results", "-", "+"] { command.append(word) }
        var found: [UInt32] = []
        for entry in try await redis.call(command).array ?? [] {
            let fields = entry.array?.last?.array ?? []
            guard fields.count >= 2, let bytes = fields[1].bytes else { continue }
            for item in try WorkerReport(decoding: bytes).items {
                if case .retry(let retry) = item.result { found.append(UInt32(retry.retryAfterMilliseconds)) }
            }
        }
        return found
    }

    /// The faults that an audit of the accounting finds.
    func audit() async throws -> [String] {
        try await sender.store.perform(CheckAccounting(shards: Self.shards))
    }

    /// Waits until the sender holds no batch.
    func finish() async throws {
        let sender = sender
        try #require(
            await until {
                sender.isIdle && sender.suppressionLists.isWhole && sender.window.shards.hasNoPending()
            })
    }

    var counters: Counters { gateway.counters }
    var repeated: Int { gateway.counters.distinct?.repeatedIDs ?? -1 }
}
