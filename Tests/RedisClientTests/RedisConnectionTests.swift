import EventLoop
import Foundation
import LoopTesting
import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Checks the live connection with a real Redis.
@Suite(.timeLimit(.minutes(5))) struct RedisConnectionTests {
    @Loop private func connect(_ redis: PrivateRedis, _ change: (inout RedisSettings) -> Void = { _ in })
        async -> RedisConnection
    {
        var settings = RedisSettings(address: redis.address, clientName: "test")
        change(&settings)
        let connection = RedisConnection(settings)
        connection.start()
        await connection.whenReady()
        return connection
    }

    @Test func `calls get their replies in order`() async throws {
        try await onLoop {
            let redis = try PrivateRedis()
            let connection = await connect(redis)
            var replies: [Int64] = []
            for _ in 0..<2000 {
                connection.send(RESPCommand("INCR", "n")) { replies.append((try? $0.get().integer) ?? -1) }
            }
            #expect(connection.pendingCount == 2000)
            #expect(try await connection.call(RESPCommand("GET", "n")).text == "2000")
            #expect(replies == Array(1...2000))
            #expect(try await connection.call(RESPCommand("CLIENT", "GETNAME")).text == "test")
            connection.close()
        }
    }

    @Test func `Redis executes the first commands of a long turn before the turn ends`() async throws {
        try await onLoop {
            let redis = try PrivateRedis()
            let connection = await connect(redis)
            let value = String(repeating: "x", count: 100)
            for number in 0..<2000 { connection.send(RESPCommand("SET", "k\(number)", value)) { _ in } }
            // The turn of the loop has not ended, because nothing has been awaited.
            var keys: Int64 = 0
            for _ in 0..<10_000 where keys == 0 { keys = try redis.run("DBSIZE").integer ?? 0 }
            #expect(keys > 0)
            connection.close()
        }
    }

    @Test func `each call of a long turn gets one error if the connection breaks`() async throws {
        try await onLoop {
            let redis = try PrivateRedis()
            let connection = await connect(redis)
            try redis.run("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            let value = String(repeating: "x", count: 100)
            var ends = [Int](repeating: 0, count: 2000)
            for number in ends.indices {
                connection.send(RESPCommand("SET", "k\(number)", value)) { result in
                    if case .failure = result { ends[number] += 1 }
                }
            }
            #expect(await until { ends.allSatisfy { $0 == 1 } })
            connection.close()
        }
    }

    @Test func `an error reply becomes a typed error`() async throws {
        try await onLoop {
            let redis = try PrivateRedis()
            let connection = await connect(redis)
            _ = try await connection.call(RESPCommand("SET", "s", "x"))
            await #expect(throws: RedisError.self) { try await connection.call(RESPCommand("INCR", "s")) }
            try redis.run("CONFIG", "SET", "maxmemory", "1")
            let store = AppRedis(app: "demo", connection: connection)
            do {
                _ = try await store.perform(PushJob(job: [1]))
                Issue.record("was not refused")
            } catch let error as StoreError {
                #expect(error.isTemporary)
            }
            let refusals = redis.count("errorstat_OOM:count=", section: "errorstats")
            let patient = Loop.task { try await store.performWithRetries(PushJob(job: [1])) }
            try #require(
                await until { redis.count("errorstat_OOM:count=", section: "errorstats") > refusals })
            try redis.run("CONFIG", "SET", "maxmemory", "0")
            #expect(try await patient.value == 1)
            connection.close()
        }
    }

    @Test func `flushed scripts are loaded again without an error`() async throws {
        try await onLoop {
            let redis = try PrivateRedis()
            let connection = await connect(redis)
            let store = AppRedis(app: "demo", connection: connection)
            let registry = FarmRedis(connection: connection)
            #expect(try await store.perform(CheckAccounting(shards: 4)) == [])
            try redis.run("SCRIPT", "FLUSH")
            #expect(try await store.perform(CheckAccounting(shards: 4)) == [])
            try redis.run("SCRIPT", "FLUSH")
            _ = try await registry.heartbeat(Heartbeat(host: "a", nonce: "n"), lifetime: .seconds(5))
            connection.close()
        }
    }

    @Test func `a cut connection fails its open calls and reconnects`() async throws {
        try await onLoop {
            let redis = try PrivateRedis()
            let connection = await connect(redis)
            var losses: [RedisError] = []
            var ready: [Bool] = []
            var repliesAtLoss: [Result<RESPValue, RedisError>] = []
            connection.onLoss = {
                losses.append($0)
                #expect(!connection.isReady)
                connection.send(RESPCommand("PING")) { repliesAtLoss.append($0) }
            }
            connection.onReady = { ready.append($0) }
            var outcome: Result<RESPValue, RedisError>?
            connection.send(RESPCommand("BLPOP", "nothing", "0"), blocking: .seconds(9)) { outcome = $0 }
            try #require(await until { redis.count("blocked_clients:", section: "clients") == 1 })
            try redis.run("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            try #require(await until { !losses.isEmpty })
            guard case .failure(.lost) = outcome else {
                Issue.record("\(String(describing: outcome))")
                return
            }
            #expect(throws: RedisError.self) { try repliesAtLoss.first?.get() }
            #expect(repliesAtLoss.count == losses.count)
            await connection.whenReady()
            #expect(ready == [false])
            #expect(try await connection.call(RESPCommand("PING")).text == "PONG")
            connection.close()
        }
    }

    @Test func `a missing reply ends the connection and fails the call`() async throws {
        try await onLoop {
            let fake = FakeRedis()
            try await fake.start()
            var isSilent = true
            fake.reply = { _ in isSilent ? .nothing : .line("+PONG") }
            var settings = fake.settings
            // The timeout is long, because the second call must get its reply even while a thousand tests share the event loop.
            settings.timeout = .seconds(3)
            let connection = RedisConnection(settings)
            connection.start()
            await connection.whenReady()
            let before = fake.connections
            await #expect(throws: RedisError.timedOut) { try await connection.call(RESPCommand("PING")) }
            isSilent = false
            await connection.whenReady()
            #expect(try await connection.call(RESPCommand("PING")).text == "PONG")
            #expect(fake.connections > before)
            connection.close()
            fake.stop()
        }
    }

    @Test func `a reply that arrived while the process was suspended is in time`() async throws {
        try await onLoop {
            let fake = FakeRedis()
            try await fake.start()
            fake.reply = { _ in .nothing }
            let session = try await RedisSession.open(fake.settings)
            var replies: [Result<RESPValue, RedisError>] = []
            session.send(RESPCommand("PING"), timeout: .seconds(20)) { replies.append($0) }
            #expect(await until { !fake.commands.isEmpty })
            fake.say("+PONG")
            // The reply is in the socket, but the event loop has not read it. `checkDeadlines` must read it first.
            session.checkDeadlines(at: .now + .seconds(60))
            #expect(try replies.first?.get().text == "PONG" && session.isOpen)
            // If no reply has arrived at the deadline, the call fails.
            session.send(RESPCommand("PING"), timeout: .seconds(20)) { replies.append($0) }
            session.checkDeadlines(at: .now + .seconds(60))
            #expect(throws: RedisError.timedOut) { try replies.last?.get() }
            #expect(replies.count == 2)
            fake.stop()
        }
    }

    @Test func `a wrong password is reported without the password`() async throws {
        try await onLoop {
            let redis = try PrivateRedis(["--requirepass", "right"])
            var settings = RedisSettings(address: redis.address, clientName: "test")
            settings.address.password = "wrong-secret"
            let connection = RedisConnection(settings)
            var losses: [RedisError] = []
            connection.onLoss = { losses.append($0) }
            connection.start()
            try #require(await until { !losses.isEmpty })
            #expect("\(losses[0])".contains("WRONGPASS") && !"\(losses[0])".contains("wrong-secret"))
            connection.close()
            settings.address.password = "right"
            let good = RedisConnection(settings)
            good.start()
            await good.whenReady()
            #expect(try await good.call(RESPCommand("PING")).text == "PONG")
            good.close()
            await #expect(throws: RedisError.closed) { try await good.call(RESPCommand("PING")) }
        }
    }

    @Test func `a subscriber receives messages again after a cut`() async throws {
        try await onLoop {
            let redis = try PrivateRedis()
            let keys = Keys(app: "demo")
            let subscriber = RedisSubscriber(
                RedisSettings(address: redis.address, clientName: "sub"), channels: [keys.wakeUps])
            var heard: [String] = []
            var ready = 0
            subscriber.onMessage = { _, message in heard.append(String(decoding: message, as: UTF8.self)) }
            subscriber.onReady = { ready += 1 }
            subscriber.start()
            try #require(await until { ready >= 1 })
            try redis.run("PUBLISH", "{pushfarm:demo}:wakeups", "00 01")
            try #require(await until { heard.count >= 1 })
            try redis.run("CLIENT", "KILL", "TYPE", "pubsub")
            try #require(await until { ready >= 2 })
            try redis.run("PUBLISH", "{pushfarm:demo}:wakeups", "*")
            try #require(await until { heard.count >= 2 })
            #expect(heard == ["00 01", "*"])
            subscriber.close()
        }
    }

    @Test func `a connection that ends after the log-in is opened again`() async throws {
        try await onLoop {
            let fake = FakeRedis()
            try await fake.start()
            var ends = 1
            fake.logIn = { words in
                guard words.first == "INFO", ends > 0, case .line(let line) = FakeRedis.welcome(words) else {
                    return nil
                }
                ends -= 1
                return .last(line)
            }
            let connection = RedisConnection(fake.settings)
            var losses: [RedisError] = []
            connection.onLoss = { losses.append($0) }
            connection.start()
            #expect(await until { connection.isReady && fake.connections == 2 })
            #expect(losses.count == 1)
            #expect(try await connection.call(RESPCommand("INCR", "n")).integer == 1)
            connection.close()
            fake.stop()
        }
    }

    @Test func `a subscriber whose connection ends after the log-in uses the next one`() async throws {
        try await onLoop {
            let fake = FakeRedis()
            try await fake.start()
            var ends = 1
            fake.logIn = { _ in
                ends -= 1
                return ends == 0 ? .last("+OK") : nil
            }
            fake.reply = { _ in .line("*3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1") }
            let subscriber = RedisSubscriber(fake.settings, channels: [Array("x".utf8)])
            var ready = 0
            subscriber.onReady = { ready += 1 }
            subscriber.start()
            #expect(await until { ready == 1 && fake.connections == 2 })
            subscriber.close()
            fake.stop()
        }
    }

    @Test func `a wait for a job ends at its push`() async throws {
        try await onLoop {
            let redis = try PrivateRedis()
            let connection = await connect(redis)
            let store = AppRedis(app: "demo", connection: connection)
            async let woken = store.perform(NextJob(timeout: .seconds(20)))
            try #require(await until { redis.count("blocked_clients:", section: "clients") == 1 })
            try redis.run("RPUSH", "pushfarm:demo", "job")
            #expect(try await woken == Array("job".utf8))
            connection.close()
        }
    }
}

extension PrivateRedis {
    /// The number of the field `name` in a section of INFO; 0 if the field is missing.
    fileprivate func count(_ name: String, section: String) -> Int {
        let text = (try? run("INFO", section))?.text ?? ""
        let line = text.split(separator: "\r\n").first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.dropFirst(name.count)) } ?? 0
    }
}
