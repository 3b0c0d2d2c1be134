import EventLoop
import Logging
import LoopTesting
import PushModel
import RandomTesting
import RedisProtocol
import StoreProtocol
import Testing

@testable import Coordinator
@testable import Delivery
@testable import Simulator
@testable import Worker

/// Responses of every kind pass through all stages: gateway, worker, report, results stream, results consumer, and the scripts
/// on a real Redis. With any response, every push gets an outcome and the accounting is exact.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ReportFuzzTests {
    /// All statuses except the statuses that stop the app until an operator resumes it: 401, 403, 407.
    private static let statuses: [UInt16] = [
        400, 400, 400, 400, 404, 405, 410, 411, 413, 418, 422, 451, 499, 226, 299, 500, 502, 503, 507, 599,
    ]
    private static let retryAfters = ["", "0", "-1", "1e9", "99999999999999999999", "4294967295", "soon"]
    private static let reasons = [
        "", " ", "BadDeviceToken", "Unregistered", "PayloadTooLarge", "BadCollapseId", "suppressed", "lost",
        "unknown", "reason:x", "__proto__", "0", "\\u0000", "\\n\\t\\u0007", "\\ud83d\\ude00",
        "größe", "a b|c,d", "'; DROP TABLE", "%s%n", "HTTP200",
    ]
    private static let timestamps = [
        "0", "-1", "1700000000000", "-9223372036854775808", "9223372036854775807", "9223372036854775808",
        "1e308", "-1e-308", "1.5", "\"x\"", "null", "[1]", "{}", "true",
    ]

    private static func body(_ random: inout SplitMix) -> [UInt8] {
        func pick(_ list: [String]) -> String { list[random.int(in: 0...list.count - 1)] }
        switch random.int(in: 0...9) {
        case 0: return []
        case 1: return Array(#"{"reason":""}"#.utf8)
        case 2: return random.bytes(random.int(in: 0...300))
        case 3:
            let long = String(repeating: "é", count: random.int(in: 1...3000))
            return Array(#"{"reason":"x\#(long)"}"#.utf8)
        case 4: return Array(#"{"reason":""#.utf8) + random.bytes(random.int(in: 1...40)) + Array("\"}".utf8)
        case 5: return Array(pick(["[]", "[{\"reason\":\"x\"}]", "7", "\"x\"", "{", "{\"reason\":7}"]).utf8)
        case 6:
            let deep = random.int(in: 1...200)
            return Array((String(repeating: "[", count: deep) + String(repeating: "]", count: deep)).utf8)
        default:
            let time = random.chance(2) ? #","timestamp":\#(pick(timestamps))"# : ""
            return Array(#"{"reason":"\#(pick(reasons))"\#(time)}"#.utf8)
        }
    }

    private static func reply(_ random: inout SplitMix) -> ScriptedGateway.Reply {
        guard random.chance(2) else { return ScriptedGateway.Reply(status: 200) }
        var reply = ScriptedGateway.Reply(status: statuses[random.int(in: 0...statuses.count - 1)])
        reply.body = body(&random)
        if random.chance(4) { reply.retryAfter = retryAfters[random.int(in: 0...retryAfters.count - 1)] }
        return reply
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func `every push gets an outcome with any response`(
        seed: UInt64
    ) async throws {
        try await SenderFixture.run { farm in
            let random = SeededReplies(SplitMix(seed: seed))
            let gateway = try await ScriptedGateway.start(farm.gateway.credentials.server) {
                Self.reply(&random.random)
            }
            let context = AppContext(
                "demo",
                SharedAppContext(
                    redis: farm.redis, host: "here", shards: SenderFixture.shards,
                    log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
            context.retention.auditBytes = 1 << 20
            let consumer = ResultsConsumer(context, poll: .milliseconds(5))
            // Each job has its own topic, so no response stops the app.
            for receipts in [Receipts.failures, .all, .none] {
                for delivery in [DeliveryGuarantee.atLeastOnce, .atMostOnce] {
                    try await farm.submit(
                        [120, 100, 7, 1],
                        options: PushOptions(
                            topic: "com.example.other", receipts: receipts, delivery: delivery,
                            maxAttempts: 2))
                }
            }
            consumer.start()
            try farm.apply(port: gateway.port)
            try await farm.untilFinished(jobs: 6)
            await consumer.stop()
            let (jobs, total) = (try await farm.jobRecords(6), farm.pushes)
            #expect(jobs.reduce(0) { $0 + $1.accepted } == total)
            #expect(jobs.reduce(0) { $0 + $1.delivered } == gateway.accepted)
            for job in jobs {
                #expect(job.delivered + job.failed + job.expired == job.accepted)
                #expect(job.reasons.values.reduce(0, +) == job.failed)
                // The reason is the gateway's reason or status, and never the farm's word for unreadable data.
                #expect(job.reasons["unreadable"] == nil && job.reasons[""] == nil)
            }
            #expect(try await farm.audit() == [])
            #expect(
                try await farm.sender.store.perform(ReadDepths(shards: SenderFixture.shards)).results == 0)
            let faults = try await farm.sender.store.perform(FindDamage(shards: SenderFixture.shards))
            #expect(faults == FindDamage.Reply())
            gateway.stop()
        }
    }

    @Loop private final class SeededReplies {
        var random: SplitMix

        init(_ random: SplitMix) { self.random = random }
    }
}

extension SenderFixture {
    /// Makes all delayed pushes due until all jobs are finished.
    fileprivate func untilFinished(jobs count: Int) async throws {
        let end = ContinuousClock.now + .seconds(240)
        while try await !jobRecords(count).allSatisfy({ $0.state == .finished }) {
            try #require(ContinuousClock.now < end, "not all pushes have an outcome")
            var waiting = RESPCommand("ZRANGE", "{pushfarm:demo}:delayed", "0", "-1")
            let ids = try await redis.call(waiting).array ?? []
            for id in ids {
                waiting = RESPCommand("ZADD", "{pushfarm:demo}:delayed", "XX", "1", id.text ?? "")
                _ = try await redis.call(waiting)
            }
            _ = try await sender.store.perform(PromoteDue(limit: 1000))
            sender.window.shards.allMayHaveBatches()
            sender.schedule()
            try await Loop.sleep(for: .milliseconds(10))
        }
    }

    fileprivate func jobRecords(_ count: Int) async throws -> [JobRecord] {
        var records: [JobRecord] = []
        for number in 1...count {
            records.append(try #require(try await sender.store.jobRecord(of: "job\(number)")))
        }
        return records
    }
}
