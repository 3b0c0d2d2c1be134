import EventLoop
import FarmConfiguration
import FarmPolicy
import Logging
import LoopTesting
import PushModel
import RedisClient
import RedisProtocol
import StoreProtocol
import Testing

@testable import Coordinator

/// One app of a coordinator with its own Redis server.
@Suite(.timeLimit(.minutes(2))) struct HostedAppTests {
    /// The number of shards. It is so large that a reclaim needs two portions.
    private static let shards = 32

    @Loop private final class Fixture {
        let redis: RedisConnection
        var live: @Loop () -> [String] = { [] }
        private let server: ConnectedRedis

        init() async throws {
            server = try await ConnectedRedis()
            redis = server.connection
        }

        func app(_ name: String) -> HostedApp {
            let configuration = AppConfiguration(
                name: name, topic: "com.example", gateway: HostPort(host: "localhost", port: 1),
                credentials: .certificate(file: "none", keyFile: nil, password: nil))
            let shared = SharedAppContext(
                redis: redis, host: "h", shards: HostedAppTests.shards,
                log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, nonce: "n",
                liveWorkers: { [unowned self] in live() })
            let shares = HostShares(app: name, hosts: [(name: "h", capacity: 1)])
            return HostedApp(configuration, shares: shares, shared)
        }

        @discardableResult func run(_ words: String...) async throws -> RESPValue {
            var command = RESPCommand()
            for word in words { command.append(word) }
            return try await redis.call(command)
        }

        func putInFlight(_ shard: String, _ state: String, _ body: [UInt8]) async throws {
            let (own, id) = ("{pushfarm:demo}:", shard + ".h.x")
            try await run("HSET", own + "states", id, state)
            var command = RESPCommand("HSET", own + "batches", id)
            command.append(body)
            _ = try await redis.call(command)
            try await run("RPUSH", own + "in_flight:" + shard, id)
        }
    }

    /// The body of a job with one push.
    private static func body(_ delivery: DeliveryGuarantee = .atLeastOnce) -> [UInt8] {
        var builder = BatchBuilder()
        var options = PushOptions()
        options.delivery = delivery
        let head = JobPartHead(jobID: "job", options: options, attempt: 0)
        Array("{}".utf8).withUnsafeBytes { builder.begin(head, payload: $0) }
        [UInt8](repeating: 7, count: 32).withUnsafeBytes { builder.append(token: $0) }
        return builder.finish() ?? []
    }

    @Test func `a worker that starts during a reclaim keeps its own batches`() async throws {
        try await onLoop {
            let fixture = try await Fixture()
            let app = fixture.app("demo")
            #expect(await app.leases.runRound() == .kept)
            let own = "{pushfarm:demo}:"
            for shard in ["03", "20"] { try await fixture.putInFlight(shard, "w2|1|0||1|.", Self.body()) }
            var asked = 0
            var mayServe: [Bool] = []
            var changes = 0
            app.onShardsChanged = { changes += 1 }
            fixture.live = {
                asked += 1
                guard asked == 1 else { return ["w1", "w2"] }
                // Runs while the call to Redis is in flight.
                Loop.task { mayServe = [app.reclaim.mayServe("w1"), app.reclaim.mayServe("w2")] }
                return ["w1"]
            }
            await app.reclaim.reclaimUnknownBatches()
            #expect(asked == 2 && mayServe == [true, false] && changes == 1)
            #expect(app.reclaim.mayServe("w2"))
            #expect(try await fixture.run("LLEN", own + "in_flight:03").integer == 0)
            #expect(try await fixture.run("LLEN", own + "in_flight:20").integer == 1)
            fixture.redis.close()
        }
    }

    @Test func `it stays unknown whether a worker had sent when Redis does not reply`() async throws {
        try await onLoop {
            let fixture = try await Fixture()
            let app = fixture.app("demo")
            #expect(await app.leases.runRound() == .kept)
            #expect(await app.reclaim.shardsInFlight(of: "w1") == [])
            try await fixture.run("SET", "{pushfarm:demo}:in_flight:20", "x")
            #expect(await app.reclaim.shardsInFlight(of: "w1") == nil)
            fixture.redis.close()
        }
    }

    /// A reclaim processes the shards in portions, and each portion concerns the same crash.
    @Test func `one crash counts once for a job with pushes in several shards`() async throws {
        try await onLoop {
            let fixture = try await Fixture()
            let app = fixture.app("demo")
            #expect(await app.leases.runRound() == .kept)
            let jobRecord = "{pushfarm:demo}:job:job"
            try await fixture.run("HSET", jobRecord, "state", "open", "accepted", "2", "in_flight", "2")
            for crash in 1...2 {
                for shard in ["03", "20"] {
                    try await fixture.putInFlight(shard, "w\(crash)|1|1||1|.", Self.body(.atMostOnce))
                }
                _ = await app.reclaim.reclaim(from: "w\(crash)", .crash(hadSent: true))
                #expect(try await fixture.run("HGET", jobRecord, "crashes").text == "\(crash)")
            }
            fixture.redis.close()
        }
    }

    @Test func `a lease that a step finds with another owner counts as lost once`() async throws {
        try await onLoop {
            let fixture = try await Fixture()
            let app = fixture.app("demo")
            #expect(await app.leases.runRound() == .kept && app.leases.lost == 0)
            let intake = try #require(app.leases.machine.intake)
            // The app no longer has the lease with this fencing token, so no loss is counted.
            app.intakeFenced(Array("1:former:h".utf8))
            #expect(app.leases.lost == 0)
            for _ in 0..<2 { app.intakeFenced(intake.bytes) }
            #expect(app.leases.lost == 1)
            #expect(await app.leases.runRound() == .kept && app.leases.lost == 1)
            #expect(app.leases.machine.intake.map { $0.bytes != intake.bytes } == true)
            fixture.redis.close()
        }
    }

    @Test func `leases that Redis refuses end at once and only for that app`() async throws {
        try await onLoop {
            let fixture = try await Fixture()
            let apps = [fixture.app("demo"), fixture.app("mail")]
            for app in apps { #expect(await app.leases.runRound() == .kept) }
            try await fixture.run("RENAME", "{pushfarm:mail}:owners", "aside")
            try await fixture.run("SET", "{pushfarm:mail}:owners", "x")
            #expect(await apps[0].leases.runRound() == .kept && apps[0].leases.machine.isOwner)
            #expect(await apps[1].leases.runRound() == .refused && !apps[1].leases.machine.isOwner)
            try await fixture.run("RENAME", "aside", "{pushfarm:mail}:owners")
            #expect(await apps[1].leases.runRound() == .kept && apps[1].leases.machine.isOwner)
            #expect(!apps[1].leases.isRefused)
            fixture.redis.close()
            #expect(await apps[0].leases.runRound() == .pending && apps[0].leases.machine.isOwner)
        }
    }

    @Test func `a host that leaves releases all leases before it notifies others`() async throws {
        try await onLoop {
            let fixture = try await Fixture()
            let app = fixture.app("demo")
            #expect(await app.leases.runRound() == .kept && app.leases.machine.isOwner)
            let owners = Mailbox<[String]>()
            app.leases.onRelease = {
                Loop.task {
                    let values = try await fixture.run("HVALS", "{pushfarm:demo}:owners").array ?? []
                    owners.put(values.compactMap(\.text))
                }
            }
            await app.leases.leave()
            #expect(!app.leases.machine.isOwner)
            let values = try await owners.next()
            #expect(values.count == Self.shards + 1 && values.allSatisfy { $0.hasSuffix("::") }, "\(values)")
            fixture.redis.close()
        }
    }
}
