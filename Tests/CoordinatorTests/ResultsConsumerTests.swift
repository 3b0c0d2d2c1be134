import EventLoop
import FarmPolicy
import Logging
import LoopTesting
import PushModel
import RedisClient
import RedisProtocol
import StoreProtocol
import Testing

@testable import Coordinator

/// A results consumer with its own Redis server. The test starts each round, so no round depends on time.
@Suite(.timeLimit(.minutes(2))) struct ResultsConsumerTests {
    @Loop private final class Results {
        let context: AppContext
        let redis: RedisConnection
        /// The number of reads whose entries were settled. Every entry of these tests reports a delayed push, so each settled
        /// read calls `onDelayedBatches`.
        private(set) var settled = 0
        /// A callback that runs during the settlement of a read, within the round.
        var whileSettling: @Loop (_ number: Int) -> Void = { _ in }
        private let server: ConnectedRedis
        private static let stream = "{pushfarm:demo}:results"

        init() async throws {
            server = try await ConnectedRedis()
            redis = server.connection
            context = AppContext(
                "demo",
                SharedAppContext(
                    redis: redis, host: "h", shards: 8,
                    log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
            context.onDelayedBatches = { [unowned self] _ in
                settled += 1
                whileSettling(settled)
            }
        }

        func consumer(claimInterval: Duration = .seconds(3600)) -> ResultsConsumer {
            ResultsConsumer(context, claimInterval: claimInterval, poll: .seconds(3600))
        }

        /// Adds reports to the results stream. The commands use the consumer's own connection, so Redis executes them before
        /// later commands of the consumer.
        func report(_ count: Int = 1) {
            for _ in 0..<count {
                var command = RESPCommand("XADD", Self.stream, "*", "r")
                command.append(Self.entry)
                command.append("l")
                command.append("h")
                redis.send(command) { _ in }
            }
        }

        /// Adds `count` reports that another consumer received `idle` ago and did not settle.
        func leave(_ count: Int = 1, to consumer: String, idle: Duration) async throws {
            try await run("XGROUP", "CREATE", Self.stream, "settlement", "0", "MKSTREAM")
            report(count)
            let read = ReadResults(consumer: consumer, .new, count: count)
            for record in try await context.store.perform(read) {
                try await run(
                    "XCLAIM", Self.stream, "settlement", consumer, "0",
                    String(decoding: record.id.bytes, as: UTF8.self),
                    "IDLE", "\(idle.milliseconds)")
            }
        }

        /// The number of entries that a consumer has received but not settled, and the number of all entries in the stream.
        func left() async throws -> [Int64?] {
            // XPENDING must be first. Before its reply arrives, the consumer settles the entries that it has read before, so XLEN
            // does not count these entries.
            let given = try await run("XPENDING", Self.stream, "settlement").array?.first?.integer
            return [given, try await run("XLEN", Self.stream).integer]
        }

        /// Waits until `count` entries are left and `unsettled` of these entries are recorded as impossible to
        /// settle.
        func wait(untilLeft count: Int, unsettled: Int = 0) async throws {
            let end = ContinuousClock.now + .seconds(60)
            while true {
                let length = try await run("XLEN", Self.stream).integer
                let noted = try await run("HLEN", "{pushfarm:demo}:unsettled").integer
                if length == Int64(count), noted == Int64(unsettled) { return }
                try #require(ContinuousClock.now < end, "\(length ?? -1) left, \(noted ?? -1) noted")
                try await Loop.sleep(for: .milliseconds(2))
            }
        }

        @discardableResult func run(_ words: String...) async throws -> RESPValue {
            var command = RESPCommand()
            for word in words { command.append(word) }
            do { return try await redis.call(command) } catch {
                guard case .refused(let refusal) = error, refusal.code == "BUSYGROUP" else { throw error }
                return .null
            }
        }

        /// A report about one push that needs a retry.
        private static let entry: [UInt8] = {
            var builder = ResultsBuilder()
            let head = JobPartHead(jobID: "job", options: PushOptions(), attempt: 1, cause: "x")
            Array("{}".utf8).withUnsafeBytes { builder.beginRetry(head, payload: $0, why: .server) }
            [UInt8](repeating: 7, count: 32).withUnsafeBytes { builder.append(token: $0) }
            return builder.finish() ?? []
        }()
    }

    // MARK: Rounds

    @Test func `entries that arrive during a round are read in the next round`() async throws {
        try await onLoop {
            let results = try await Results()
            let consumer = results.consumer()
            results.report()
            results.whileSettling = { [unowned results] in if $0 == 1 { results.report() } }
            consumer.start()
            #expect(await until { results.settled == 1 })
            // The second entry must stay in the stream. If the round continued, the consumer would read it before the requests in
            // `left()` run.
            #expect(try await results.left() == [0, 1])
            consumer.wake()
            #expect(await until { results.settled == 2 })
            #expect(try await results.left() == [0, 0])
            await consumer.stop()
            results.redis.close()
        }
    }

    @Test func `a round continues while its reads are full`() async throws {
        try await onLoop {
            let results = try await Results()
            let consumer = results.consumer()
            results.report(130)
            consumer.start()
            #expect(await until { results.settled == 3 })
            #expect(try await results.left() == [0, 0])
            await consumer.stop()
            results.redis.close()
        }
    }

    // MARK: The end

    @Test func `a consumer that is stopped leaves no entry although more arrive`() async throws {
        try await onLoop {
            let results = try await Results()
            let consumer = results.consumer()
            results.report()
            results.whileSettling = { [unowned results] in if $0 < 5 { results.report() } }
            consumer.start()
            await consumer.stop()
            #expect(try await results.left() == [0, 0])
            #expect(results.settled == 5)
            results.redis.close()
        }
    }

    @Test func `entries that arrive in the round of the stop are settled too`() async throws {
        try await onLoop {
            let results = try await Results()
            let consumer = results.consumer()
            let stopped = Mailbox<Void>()
            results.report(65)
            results.whileSettling = { [unowned results] number in
                // The first read was full, so the round continues. The stop arrives during the round.
                if number == 1 {
                    Loop.task {
                        await consumer.stop()
                        stopped.put(())
                    }
                } else if number == 2 {
                    results.report()
                }
            }
            consumer.start()
            try await stopped.next()
            #expect(try await results.left() == [0, 0])
            results.redis.close()
        }
    }

    @Test func `a consumer stops without Redis too`() async throws {
        try await onLoop {
            let results = try await Results()
            let consumer = results.consumer()
            results.redis.close()
            consumer.start()
            await consumer.stop()
            #expect(results.settled == 0)
        }
    }

    // MARK: What is left

    @Test func `entries of the predecessor are settled first`() async throws {
        try await onLoop {
            let results = try await Results()
            try await results.leave(70, to: "h", idle: .zero)
            let consumer = results.consumer()
            consumer.start()
            #expect(await until { results.settled == 2 })
            #expect(try await results.left() == [0, 0])
            await consumer.stop()
            results.redis.close()
        }
    }

    /// If a consumer is known to have exited, its entries are taken over after half of the usual idle time.
    @Test(arguments: [(600, true, true), (400, true, false), (600, false, false), (1500, false, false)])
    func `the entries of an exited consumer are taken over`(idle: Int, isGone: Bool, isTaken: Bool)
        async throws
    {
        try await onLoop {
            let results = try await Results()
            try await results.leave(70, to: "other", idle: .seconds(idle))
            let consumer = results.consumer(claimInterval: .seconds(1000))
            if isGone { consumer.claim() }
            consumer.start()
            // A round reads new entries last. When the new entry is settled, all other work of the round is done.
            results.report()
            #expect(await until { results.settled == (isTaken ? 3 : 1) })
            #expect(try await results.left() == (isTaken ? [0, 0] : [70, 70]))
            await consumer.stop()
            results.redis.close()
        }
    }

    @Test func `entries that another consumer has left for a long time are taken over`() async throws {
        try await onLoop {
            let results = try await Results()
            try await results.leave(to: "other", idle: .seconds(60))
            let consumer = results.consumer(claimInterval: .milliseconds(1))
            consumer.start()
            #expect(
                await until {
                    consumer.wake()
                    return results.settled == 1
                })
            #expect(try await results.left() == [0, 0])
            await consumer.stop()
            results.redis.close()
        }
    }

    // MARK: What cannot be settled

    @Test func `a key of the wrong type stops settlement without a loss until it is removed`()
        async throws
    {
        try await onLoop {
            let results = try await Results()
            let consumer = results.consumer()
            try await results.run("SET", "{pushfarm:demo}:events", "x")
            results.report(130)
            consumer.start()
            // The consumer cannot settle the entries, and retries only the oldest ones.
            #expect(await until { results.settled >= 3 })
            #expect(try await results.run("XLEN", "{pushfarm:demo}:results").integer == 130)
            #expect(try await results.run("EXISTS", "{pushfarm:demo}:unsettled").integer == 0)
            try await results.run("DEL", "{pushfarm:demo}:events")
            try await results.wait(untilLeft: 0)
            await consumer.stop()
            results.redis.close()
        }
    }

    @Test func `an entry that cannot be settled is reported once across processes`() async throws {
        try await onLoop {
            let results = try await Results()
            try await results.run("XADD", "{pushfarm:demo}:results", "*", "r", "nonsense")
            for round in 1...2 {
                let consumer = results.consumer()
                results.report()
                consumer.start()
                try await results.wait(untilLeft: 1, unsettled: 1)
                #expect(await until { results.settled == round })
                await consumer.stop()
            }
            let events = try await results.run("XRANGE", "{pushfarm:demo}:events", "-", "+").array
            #expect(events?.count == 1)
            let faults = try await results.context.store.perform(FindDamage(shards: 8))
            #expect(faults.unsettled == 1 && faults.why.contains("format version 110"))
            results.redis.close()
        }
    }

    @Test func `an entry that Redis refuses in detail is settled by its counts only`() async throws {
        try await onLoop {
            let results = try await Results()
            let consumer = results.consumer()
            // An entry that no worker writes and no settlement accepts: a dead letter without a job.
            var builder = ResultsBuilder()
            let head = JobPartHead(jobID: "", options: PushOptions(), attempt: 1, cause: "x")
            Array("{}".utf8).withUnsafeBytes { builder.beginDeadLetter(head, payload: $0, reason: "bad") }
            [UInt8](repeating: 7, count: 32).withUnsafeBytes { builder.append(token: $0) }
            let entry = builder.finish() ?? []
            var command = RESPCommand("XADD", "{pushfarm:demo}:results", "*", "r")
            command.append(entry)
            _ = try await results.redis.call(command)
            results.report()
            consumer.start()
            try await results.wait(untilLeft: 0)
            let kept = try await results.run("HVALS", "{pushfarm:demo}:unreadable").array
            #expect(kept?.map(\.bytes) == [entry])
            await consumer.stop()
            results.redis.close()
        }
    }
}
