import EventLoop
import FarmPolicy
import LoopTesting
import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Checks all temporary refusals of Redis. After each refusal the client must wait and repeat the call.
@Suite(.timeLimit(.minutes(5))) struct RedisRefusalTests {
    private static let notNow = [
        "LOADING Redis is loading the dataset in memory",
        "READONLY You can't write against a read only replica.",
        "MISCONF Errors writing to the AOF file: No space left on device",
        "OOM command not allowed when used memory > 'maxmemory'.",
        "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
        "NOREPLICAS Not enough good replicas to write.", "MASTERDOWN Link with MASTER is down",
        "CLUSTERDOWN The cluster is down", "TRYAGAIN Multiple keys request during rehashing of slot",
        "NOSCRIPT No matching script. Please use EVAL.",
        "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)",
    ]

    @Loop private func connected(_ fake: FakeRedis) async throws -> RedisConnection {
        try await fake.start()
        let connection = RedisConnection(fake.settings)
        connection.start()
        await connection.whenReady()
        return connection
    }

    @Test(arguments: notNow) func `a temporary refusal is waited out however often it comes`(refusal: String)
        async throws
    {
        try await onLoop {
            let fake = FakeRedis()
            let connection = try await connected(fake)
            var left = 5
            fake.reply = { _ in
                left -= 1
                return .line(left >= 0 ? "-" + refusal : "*1\r\n:1")
            }
            let store = AppRedis(app: "demo", connection: connection)
            #expect(try await store.performWithRetries(ReleaseLeases(nonce: "n", tokens: nil)) == 1)
            // The client has repeated the unchanged call several times on one connection.
            #expect(fake.commands.count >= 6 && Set(fake.commands).count == 1)
            #expect(fake.connections == 1)
            connection.close()
            fake.stop()
        }
    }

    @Test(arguments: notNow) func `a temporary refusal also applies to single commands`(refusal: String) {
        let error = RedisError(RESPServerError(message: refusal))
        #expect(error.isTemporary && StoreError(RESPServerError(message: refusal)).isTemporary)
    }

    @Test(arguments: ["ERR unknown command", "NOPERM no permissions", "WRONGTYPE Operation against a key"])
    func `a permanent error is not retried`(refusal: String) async throws {
        try await onLoop {
            let fake = FakeRedis()
            let connection = try await connected(fake)
            fake.reply = { _ in .line("-" + refusal) }
            let store = AppRedis(app: "demo", connection: connection)
            await #expect(throws: StoreError.self) {
                try await store.performWithRetries(ReleaseLeases(nonce: "n", tokens: nil))
            }
            #expect(fake.commands.count == 1)
            connection.close()
            fake.stop()
        }
    }

    @Test(arguments: [
        "LOADING Redis is loading the dataset in memory", "ERR max number of clients reached",
        "MASTERDOWN Link with MASTER is down", "BUSY Redis is busy running a script.",
        "NOAUTH Authentication required.",
    ])
    func `a refused connection is retried until it succeeds and reported once`(refusal: String)
        async throws
    {
        try await onLoop {
            let fake = FakeRedis()
            var left = 4
            fake.logIn = { words in
                guard words.first == "SCRIPT", left > 0 else { return nil }
                left -= 1
                return .line("-" + refusal)
            }
            try await fake.start()
            let connection = RedisConnection(fake.settings)
            var outages: [String] = []
            connection.onOutage = { outage in
                switch outage {
                case .began(let error): outages.append("\(error)")
                case .ended: outages.append("ended")
                }
            }
            connection.start()
            await connection.whenReady()
            #expect(fake.connections >= 5)
            #expect(outages.count == 2 && outages.last == "ended", "\(outages)")
            let first = try #require(outages.first)
            // On a busy machine the first attempt may also time out.
            #expect(
                first.contains(refusal) || first.contains("no time left") || first.contains("timed out"),
                "\(outages)")
            connection.close()
            fake.stop()
        }
    }

    @Test func `connections that end during calls only repeat the calls`() async throws {
        try await onLoop {
            let fake = FakeRedis()
            let connection = try await connected(fake)
            var outages: [String] = []
            connection.onOutage = { if case .began(let error) = $0 { outages.append("\(error)") } }
            var left = 6
            fake.reply = { _ in
                left -= 1
                return left >= 0 ? .end : .line("*1\r\n:1")
            }
            let store = AppRedis(app: "demo", connection: connection)
            #expect(try await store.performWithRetries(ReleaseLeases(nonce: "n", tokens: nil)) == 1)
            #expect(fake.commands.count == 7 && Set(fake.commands).count == 1 && fake.connections == 7)
            // After each lost connection the first attempt to connect succeeds, so the client reports no outage.
            // On a busy machine an attempt may time out, and the client reports this outage.
            #expect(outages.allSatisfy { $0.contains("no time left") }, "\(outages)")
            connection.close()
            fake.stop()
        }
    }

    @Test func `a silent Redis times out even during the log-in`() async throws {
        try await onLoop {
            let fake = FakeRedis()
            try await fake.start()
            var settings = fake.settings
            (settings.timeout, settings.connectTimeout) = (.milliseconds(100), .milliseconds(100))
            fake.logIn = { _ in fake.connections < 3 ? .nothing : nil }
            let connection = RedisConnection(settings)
            connection.start()
            await connection.whenReady()
            // On a busy machine further attempts may exceed the timeout of 100 ms, so the test expects at least three attempts.
            let tries = fake.connections
            #expect(tries >= 3)
            fake.reply = { _ in .nothing }
            await #expect(throws: RedisError.timedOut) {
                try await connection.call(RESPCommand("GET", "x"))
            }
            await connection.whenReady()
            #expect(fake.connections > tries)
            connection.close()
            fake.stop()
        }
    }

    @Test func `delays between attempts grow up to a second`() {
        var backoff = BackOff.redis
        let pauses = (0..<200).map { _ in backoff.failed() }
        #expect(pauses.allSatisfy { $0 >= .milliseconds(25) && $0 <= .seconds(1) })
        // The delays are random, so clients that lost Redis at the same time reconnect at different times.
        #expect(Set(pauses.suffix(100)).count > 90)
        #expect(pauses.suffix(100).allSatisfy { $0 >= .milliseconds(500) })
    }
}
