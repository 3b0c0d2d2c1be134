import EventLoop
import Foundation
import LoopTesting
import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

@Suite(.timeLimit(.minutes(5))) struct FarmRedisTests {
    private func withRegistry(
        _ body: @escaping @Loop @Sendable (FarmRedis, PrivateRedis) async throws -> Void
    ) async throws {
        try await onLoop {
            let redis = try PrivateRedis()
            let connection = RedisConnection(RedisSettings(address: redis.address, clientName: "test"))
            connection.start()
            await connection.whenReady()
            try await body(FarmRedis(connection: connection), redis)
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
            } catch let error as ShardCountMismatch {
                #expect(error == ShardCountMismatch(configured: 32, fixed: 64))
                #expect("\(error)".contains("32") && "\(error)".contains("64"))
            }
        }
    }

    @Test func `a farm can start on a Redis that already has jobs`() async throws {
        try await withRegistry { registry, redis in
            try redis.run("RPUSH", "pushfarm:demo", "{}")
            try redis.run("CONFIG", "SET", "maxmemory", "1")
            for _ in 1...2 {
                try await registry.fixShards(64)
                try await registry.addApps(["demo"])
            }
            #expect(try await registry.fixedShards() == 64)
            #expect(try await registry.apps() == ["demo"])
            await #expect(throws: ShardCountMismatch.self) { try await registry.fixShards(32) }
        }
    }

    @Test func `the first coordinator writes the data format and accepts its data`() async throws {
        try await withRegistry { registry, redis in
            try await registry.checkFormat(apps: ["demo"])
            try redis.run("RPUSH", "pushfarm:demo", "{}")
            try await registry.checkFormat(apps: ["demo"])
            try await registry.fixShards(64)
            #expect(try redis.run("HGET", "{pushfarm}:farm", "format").text == "\(DataFormat.current)")
            try await registry.checkFormat(apps: ["demo"])
        }
    }

    @Test(arguments: [nil, "0", "2", "x"] as [String?])
    func `data in another format are refused with the number of open pushes`(format: String?) async throws {
        try await withRegistry { registry, redis in
            try redis.run("HSET", "{pushfarm}:farm", "shards", "64", "version", "1")
            if let format { try redis.run("HSET", "{pushfarm}:farm", "format", format) }
            try redis.run("SADD", "{pushfarm}:apps", "demo", "shop")
            try redis.run("HSET", "{pushfarm:demo}:load", "open", "12", "settled", "5")
            try redis.run("HSET", "{pushfarm:other}:load", "open", "30")
            try redis.run("HSET", "{pushfarm:shop}:load", "open", "-3")
            try redis.run("RPUSH", "pushfarm:shop", "{}")
            try redis.run("RPUSH", "{pushfarm:shop}:taken", "{}", "{}")
            await #expect(throws: UnreadableFormat(format: format, openPushes: 42, waitingJobs: 3)) {
                try await registry.checkFormat(apps: ["demo", "other"])
            }
        }
    }

    @Test func `old keys are found when the farm's own key is missing`() async throws {
        try await withRegistry { registry, redis in
            try redis.run("HSET", "{pushfarm:demo}:gate", "retry", "1000")
            await #expect(throws: UnreadableFormat(format: nil, openPushes: 0, waitingJobs: 0)) {
                try await registry.checkFormat(apps: ["demo"])
            }
        }
    }

    @Test func `the functions are loaded once and a newer version stays`() async throws {
        try await withRegistry { registry, redis in
            #expect(try await registry.functionLibrary() == nil)
            #expect(try await registry.loadFunctions())
            #expect(try await !registry.loadFunctions())
            #expect(try await registry.functionLibrary() == FunctionLibrary.text)
            let text = String(decoding: FunctionLibrary.text, as: UTF8.self)
            let version = FunctionLibrary.version(of: FunctionLibrary.text)
            for (number, isReplaced) in [(version - 1, true), (version + 1, false)] {
                let other = text.replacingOccurrences(
                    of: "-- version \(version)\n", with: "-- version \(number)\n")
                try redis.run("FUNCTION", "LOAD", "REPLACE", other)
                #expect(try await registry.loadFunctions() == isReplaced)
                #expect(
                    try await registry.functionLibrary()
                        == (isReplaced ? FunctionLibrary.text : Array(other.utf8)))
            }
        }
    }

    private func line(_ host: String, _ nonce: String = "n", apps: [String] = []) -> Heartbeat {
        Heartbeat(host: host, nonce: nonce, capacity: 2, apps: apps, status: Array(#"{"x": "y z"}"#.utf8))
    }

    @Test func `hosts join, expire and leave`() async throws {
        try await withRegistry { registry, redis in
            _ = try await registry.heartbeat(line("a-b", apps: ["x", "y"]), lifetime: .seconds(60))
            let reply = try await registry.heartbeat(line("c"), lifetime: .seconds(60))
            #expect(reply.heldFor == nil && reply.time > 1_700_000_000_000)
            #expect(
                reply.members.sorted { $0.name < $1.name } == [
                    Heartbeat.Member(name: "a-b", nonce: "n", capacity: 2, apps: ["x", "y"]),
                    Heartbeat.Member(name: "c", nonce: "n", capacity: 2, apps: []),
                ])
            var hosts = try await registry.hosts()
            #expect(hosts.map(\.name) == ["a-b", "c"] && hosts[0].status == Array(#"{"x": "y z"}"#.utf8))
            #expect(hosts[0].endsIn > .seconds(30) && hosts[0].endsIn <= .seconds(60))
            try redis.run("HSET", "{pushfarm}:hosts", "old", "1000 n 2 x {}", "odd", "?")
            try await registry.leave(host: "c", nonce: "n")
            hosts = try await registry.hosts()
            #expect(hosts.map(\.name) == ["a-b"])
            // A heartbeat stays visible for an hour after its expiry time, but its host is not a member of the farm any more.
            _ = try await registry.heartbeat(line("c"), lifetime: .milliseconds(1))
            try await Loop.sleep(for: .milliseconds(5))
            let last = try await registry.heartbeat(line("a-b"), lifetime: .seconds(60))
            #expect(last.members.map(\.name) == ["a-b"])
            #expect(try await registry.hosts().map(\.name) == ["a-b", "c"])
        }
    }

    @Test func `the name of a host belongs to one coordinator while it lives`() async throws {
        try await withRegistry { registry, _ in
            _ = try await registry.heartbeat(line("a", "n1"), lifetime: .seconds(60))
            let refused = try await registry.heartbeat(line("a", "n2"), lifetime: .seconds(60))
            let left = try #require(refused.heldFor)
            #expect(left > .seconds(30) && left <= .seconds(60) && refused.members.map(\.nonce) == ["n1"])
            // A coordinator cannot remove the heartbeat of another coordinator with the same host name.
            try await registry.leave(host: "a", nonce: "n2")
            #expect(try await registry.hosts().map(\.name) == ["a"])
            // A successor on the same host may take the host's name, because its heartbeat contains the nonce of the
            // predecessor.
            let newOwner = try await registry.heartbeat(
                line("a", "n2"), predecessor: "n1", lifetime: .milliseconds(1))
            #expect(newOwner.heldFor == nil)
            try await Loop.sleep(for: .milliseconds(5))
            let next = try await registry.heartbeat(line("a", "n3"), lifetime: .seconds(60))
            #expect(next.heldFor == nil && next.members.map(\.nonce) == ["n3"])
        }
    }

    @Test func `the first of two renewals of a provider token wins`() async throws {
        try await withRegistry { registry, _ in
            let key = ProviderTokenIdentity(keyID: "ABC123DEFG", teamID: "TEAM123456", keyFingerprint: "0123")
            let minute = Duration.seconds(60)
            let none = try await registry.providerToken(of: key)
            #expect(none == nil)
            let steps: [([UInt8]?, [UInt8], FarmRedis.TokenSwap)] = [
                (nil, [1, 0, 255], .put), (nil, [2], .stored([1, 0, 255])), (nil, [1, 0, 255], .put),
                ([1, 0, 255], [3], .put),
            ]
            for (old, new, expected) in steps {
                let reply = try await registry.swapProviderToken(
                    of: key, from: old, to: new, lifetime: minute)
                #expect(reply == expected)
            }
            let last = try await registry.providerToken(of: key)
            #expect(last == [3])
        }
    }

    @Test func `a provider token belongs to a key id, team and key and a refusal also to a gateway`()
        async throws
    {
        try await withRegistry { registry, redis in
            let owners = [("K", "T", "1"), ("K", "T", "2"), ("K", "U", "1"), ("L", "T", "1")].map {
                ProviderTokenIdentity(keyID: $0.0, teamID: $0.1, keyFingerprint: $0.2)
            }
            for (number, owner) in owners.enumerated() {
                let reply = try await registry.swapProviderToken(
                    of: owner, from: nil, to: [UInt8(number)], lifetime: .seconds(60))
                #expect(reply == .put)
            }
            for (number, owner) in owners.enumerated() {
                #expect(try await registry.providerToken(of: owner) == [UInt8(number)])
                #expect(try await registry.refusedProviderToken(of: owner, by: "production") == nil)
            }
            // The last of these refusals is about an older token than the second refusal, so it changes nothing.
            for time in [1_800_000_000, 1_800_000_100, 1_800_000_050] as [Int64] {
                try await registry.refuseProviderToken(
                    of: owners[0], issuedAt: time, by: "production", lifetime: .seconds(60))
            }
            #expect(
                try await registry.refusedProviderToken(of: owners[0], by: "production") == 1_800_000_100)
            #expect(try await registry.refusedProviderToken(of: owners[0], by: "sandbox") == nil)
            #expect(try await registry.refusedProviderToken(of: owners[1], by: "production") == nil)
            #expect(try redis.run("TTL", FarmKeys.refusedProvider(owners[0])).integer ?? 0 > 0)
        }
    }

    @Test func `apps and Redis have a description`() async throws {
        try await withRegistry { registry, _ in
            try await registry.addApps(["b", "a", "b"])
            #expect(try await registry.apps() == ["a", "b"])
            let info = try await registry.info()
            #expect(info.evictionPolicy == "noeviction" && !info.isAppendOnly && info.runID.count == 40)
            #expect(try await registry.announce(Array("resume demo".utf8)) == 0)
        }
    }
}
