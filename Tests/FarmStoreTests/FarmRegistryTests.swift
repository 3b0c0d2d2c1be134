import EventLoop
import LoopTesting
import RESP
import Testing

@testable import FarmStore

@Suite(.timeLimit(.minutes(1))) struct FarmRegistryTests {
    private func withRegistry(
        _ body: @escaping @Loop @Sendable (FarmRegistry, PrivateRedis) async throws -> Void
    ) async throws {
        try await onLoop {
            let redis = try PrivateRedis()
            let connection = RedisConnection(RedisSettings(address: redis.address, clientName: "test"))
            connection.start()
            await connection.whenReady()
            try await body(FarmRegistry(connection: connection), redis)
            connection.close()
        }
    }

    @Test func `the number of shards is fixed at the first start`() async throws {
        try await withRegistry { registry, _ in
            #expect(try await registry.fixedShards() == nil)
            try await registry.fixShards(64)
            try await registry.fixShards(64)
            do {
                try await registry.fixShards(32)
                Issue.record("32 were taken")
            } catch let error as FarmMismatch {
                #expect(error == FarmMismatch(configured: 32, fixed: 64))
                #expect("\(error)".contains("32") && "\(error)".contains("64"))
            }
        }
    }

    @Test func `hosts show up, end, and leave`() async throws {
        try await withRegistry { registry, redis in
            try await registry.beat(host: "a b", status: Array(#"{"x": "y z"}"#.utf8), lifetime: .seconds(10))
            try await registry.beat(host: "c", status: [], lifetime: .seconds(10))
            var hosts = try await registry.hosts()
            #expect(hosts.map(\.name) == ["a b", "c"] && hosts[0].status == Array(#"{"x": "y z"}"#.utf8))
            #expect(hosts[0].endsIn > .seconds(8) && hosts[0].endsIn < .seconds(12))
            try redis.run("HSET", "{pushfarm}:hosts", "old", "1000 {}")
            try await registry.leave(host: "c")
            hosts = try await registry.hosts()
            #expect(hosts.map(\.name) == ["a b"])
        }
    }

    @Test func `of two who renew a provider token the first wins`() async throws {
        try await withRegistry { registry, _ in
            let key = "ABC123DEFG"
            let minute = Duration.seconds(60)
            let none = try await registry.providerToken(keyID: key)
            #expect(none == nil)
            let steps: [([UInt8]?, [UInt8], FarmRegistry.SwapReply)] = [
                (nil, [1, 0, 255], .put), (nil, [2], .stored([1, 0, 255])), (nil, [1, 0, 255], .put),
                ([1, 0, 255], [3], .put),
            ]
            for (old, new, expected) in steps {
                let reply = try await registry.swapProviderToken(
                    keyID: key, from: old, to: new, lifetime: minute)
                #expect(reply == expected)
            }
            let last = try await registry.providerToken(keyID: key)
            #expect(last == [3])
        }
    }

    @Test func `apps and Redis itself are described`() async throws {
        try await withRegistry { registry, _ in
            try await registry.addApps(["b", "a", "b"])
            #expect(try await registry.apps() == ["a", "b"])
            let info = try await registry.info()
            #expect(info.evictionPolicy == "noeviction" && !info.isAppendOnly && info.runID.count == 40)
            #expect(try await registry.announce(Array("resume demo".utf8)) == 0)
        }
    }
}
