import FarmHarness
import Foundation
import Testing

/// Hosts in separate network namespaces.
@Suite(
    .startsProcesses(limit: .seconds(300)),
    .enabled(if: Network.obstacle == nil, Comment(rawValue: Network.obstacle ?? "")))
struct NetworkTests {
    private static let pace = ["latency 30ms", "streams 50"]

    private func farm() async throws -> Farm {
        let farm = try await Farm(hosts: Farm.twoHosts, Farm.Options(faults: Self.pace, isSpread: true))
        try await farm.startAll()
        return farm
    }

    @Test func `a power failure of a host loses no push`() async throws {
        let farm = try await farm()
        let load = try Load(farm)
        try await load.more(2)
        try farm.network?.plug("beta", isIn: false)
        farm.signal("beta", SIGKILL)
        try await farm.shared(by: ["alpha"], within: .seconds(30))
        try await load.expectBounded(workers: 2)
    }

    @Test func `a host that loses only Redis stops in time and returns later`()
        async throws
    {
        let farm = try await farm()
        let load = try Load(farm)
        try await load.more(2)
        try farm.network?.cut("beta", Farm.redisMachine)
        try await farm.shared(by: ["alpha"], within: .seconds(30))
        try await load.more(2)
        try farm.network?.heal("beta", Farm.redisMachine)
        try await farm.shared(by: ["alpha", "beta"])
        try await load.more(2)
        try await load.expectBounded(workers: 2)
        #expect(!farm.coordinator("beta").hasEnded)
        // Each process logs one line when it cannot reach Redis, and one line when it can reach Redis again.
        #expect(farm.log("beta").split(separator: "\n").count < 60, "\(farm.log("beta"))")
    }

    @Test func `hosts that join and leave share the shards evenly, and every push arrives once`()
        async throws
    {
        let names = ["alpha", "beta", "gamma"]
        let farm = try await Farm(hosts: names, Farm.Options(workers: 1, faults: Self.pace, isSpread: true))
        try farm.start("alpha")
        try await farm.shared(by: ["alpha"], within: .seconds(20))
        let load = try Load(farm)
        try await load.more(1)
        for count in [2, 3] {
            try farm.start(names[count - 1])
            try await farm.shared(by: Array(names.prefix(count)))
            // Each host's share differs from an even share by at most a tenth.
            let shares = try farm.shares().values
            #expect(shares.allSatisfy { abs(Double($0) * Double(count) / 64 - 1) <= 0.1 }, "\(shares)")
            try await load.more(1)
        }
        farm.coordinator("beta").signal(SIGTERM)
        #expect(try await farm.coordinator("beta").wait(within: .seconds(30)) == .exited(0))
        try await farm.shared(by: ["alpha", "gamma"], within: .seconds(20))
        try await load.more(1)
        try await load.expectExactlyOnce()
    }

    @Test func `a host without any network stops in time and returns later`() async throws {
        let farm = try await farm()
        let load = try Load(farm)
        try await load.more(2)
        try farm.network?.plug("beta", isIn: false)
        try await farm.shared(by: ["alpha"], within: .seconds(40))
        try await load.more(2)
        try farm.network?.plug("beta", isIn: true)
        try await farm.shared(by: ["alpha", "beta"], within: .seconds(90))
        try await load.more(2)
        try await load.expectBounded(workers: 2)
        #expect(!farm.coordinator("beta").hasEnded)
    }

    @Test(arguments: [3600, -3600]) func `a host whose clock is an hour wrong delivers pushes`(skew: Int)
        async throws
    {
        let farm = try await Farm(
            hosts: Farm.twoHosts, Farm.Options(workers: 1, faults: Self.pace, isSpread: true))
        // Host "beta" starts first, so its coordinator makes the provider token.
        try farm.start("beta", environment: ["PUSHFARM_FAILPOINTS_CLOCK": "0:\(skew)"])
        try await farm.shared(by: ["beta"], within: .seconds(30))
        let load = try Load(farm)
        try await load.more(1)
        try farm.start("alpha")
        try await farm.shared(by: ["alpha", "beta"])
        try await load.more(2)
        farm.coordinator("alpha").signal(SIGTERM)
        #expect(try await farm.coordinator("alpha").wait(within: .seconds(30)) == .exited(0))
        try await farm.shared(by: ["beta"], within: .seconds(20))
        try await load.more(1)
        try await load.expectExactlyOnce()
        let log = farm.log("beta")
        for trouble in ["app is paused", "app paused", "leases lost"] {
            #expect(!log.contains(trouble), "\(log)")
        }
        let line = try farm.redis.client().run("HGET", "{pushfarm}:hosts", "beta").text ?? ""
        let since = line.range(of: "\"since\":").flatMap {
            Int(line[$0.upperBound...].prefix { $0.isNumber })
        }
        let wrong = try #require(since) / 1000 - Int(Date().timeIntervalSince1970)
        #expect(abs(wrong - skew) < 600, "its clock is right")
    }

    @Test func `a host that was stopped for longer than its lease rejoins the farm`()
        async throws
    {
        let farm = try await farm()
        let load = try Load(farm)
        try await load.more(2)
        farm.signal("beta", SIGSTOP)
        try await farm.shared(by: ["alpha"], within: .seconds(30))
        try await load.more(2)
        farm.signal("beta", SIGCONT)
        try await farm.shared(by: ["alpha", "beta"])
        try await load.more(2)
        try await load.expectBounded(workers: 2)
        #expect(!farm.coordinator("beta").hasEnded)
    }
}
