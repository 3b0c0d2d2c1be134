import FarmHarness
import Foundation
import Testing

/// Farms of several hosts, one at a time: much of their time they wait for leases.
@Suite(.serialized, .timeLimit(.minutes(5))) enum HostFarms {}

extension HostFarms {
    /// Hosts that come, go and die on one machine.
    struct HostsTests {
        /// Slow enough that pushes are always in the air.
        private static let pace = ["latency 30ms", "streams 50"]

        @Test func `hosts that come and go under load cost nothing`() async throws {
            let farm = try await Hosts(Hosts.Options(faults: Self.pace))
            try farm.start("alpha")
            // Alone, a host has everything as soon as it is there.
            try await farm.shared(by: ["alpha"], within: .seconds(20))
            let load = try Load(farm)
            try await load.more(2)
            try farm.start("beta")
            try await farm.shared(by: ["alpha", "beta"])
            #expect(!farm.coordinator("alpha").hasEnded)
            try await load.more(2)
            farm.coordinator("beta").signal(SIGTERM)
            #expect(try await farm.coordinator("beta").wait(within: .seconds(30)) == .exited(0))
            try await farm.shared(by: ["alpha"], within: .seconds(10))
            try await load.more(2)
            try await load.expectExactlyOnce()
            for host in ["alpha", "beta"] {
                let log = farm.log(host)
                #expect(!log.contains("leases lost") && !log.contains("anew"), "\(log)")
            }
        }

        /// The intake is a process of each host's own: it goes on where the other host's has stopped.
        @Test func `an app's intake goes to another host and back, and after a fence, in the jobs' order`()
            async throws
        {
            let apps = ["demo", "mail", "news", "chat"]
            let farm = try await Hosts(Hosts.Options(apps: apps, workers: 1, faults: Self.pace))
            try farm.start("alpha")
            try await farm.shared(by: ["alpha"], within: .seconds(20))
            let moving = apps.filter { farm.expected(["alpha", "beta"], app: $0)["intake"] == "beta" }
            #expect(!moving.isEmpty && moving.count < apps.count, "\(moving)")
            let loads = try apps.enumerated().map { number, app in
                try Load(farm, app: app, devices: 40, seed: UInt64(number + 1), every: .milliseconds(300))
            }
            for load in loads { try await load.more(1) }
            try farm.start("beta")
            try await farm.shared(by: ["alpha", "beta"])
            for load in loads { try await load.more(2) }
            let app = try #require(moving.first)
            let owners = "{pushfarm:\(app)}:owners"
            // As if another one had taken it, and were gone.
            try farm.redis.client().run("HSET", owners, "intake", "99:stranger:elsewhere")
            try await eventually("the intake is acquired anew") {
                let owner = try farm.owners(of: app)["intake"]
                return farm.log("beta").contains("the intake has another owner") && owner == "beta"
            }
            for load in loads { try await load.more(2) }
            farm.coordinator("beta").signal(SIGTERM)
            #expect(try await farm.coordinator("beta").wait(within: .seconds(30)) == .exited(0))
            try await farm.shared(by: ["alpha"], within: .seconds(15))
            for load in loads { try await load.more(2) }
            try await Load.expectExactlyOnce(loads)
        }

        @Test func `a dead host's shards go to the living within 16 seconds`() async throws {
            let farm = try await Hosts(
                Hosts.Options(names: ["alpha", "beta", "gamma"], workers: 1, faults: Self.pace))
            try await farm.startAll()
            let load = try Load(farm)
            try await load.more(2)
            let beta = farm.coordinator("beta")
            farm.signal("beta", SIGKILL)
            _ = try await beta.wait()
            let start = ContinuousClock.now
            try await farm.shared(by: ["alpha", "gamma"], within: .seconds(40))
            let took = ContinuousClock.now - start
            #expect(took < .seconds(16), "\(took)")
            try await load.more(2)
            try await load.expectBounded(workers: 1)
        }

        @Test func `a second coordinator with a host's name is refused while the first one lives`()
            async throws
        {
            let farm = try await Hosts()
            try farm.start("alpha")
            try await farm.shared(by: ["alpha"])
            let double = try farm.start("other", as: "alpha")
            #expect(try await double.wait(within: .seconds(20)) == .exited(2))
            #expect(double.error.contains("another coordinator with the host name alpha is alive"))
            #expect(!farm.coordinator("alpha").hasEnded)
            #expect(try farm.shares() == ["alpha": 64])
            // Of one that was killed only the line is left, for some seconds.
            farm.signal("alpha", SIGKILL)
            _ = try await farm.coordinator("alpha").wait()
            let heir = try farm.start("other", as: "alpha")
            try await eventually("it takes over", within: .seconds(30)) {
                try farm.redis.client().run("HGET", "{pushfarm}:hosts", "alpha").text?
                    .contains("\"pid\":\(heir.pid)") == true
            }
            #expect(!heir.hasEnded)
        }
    }

    /// Hosts as machines of their own, with a network between them.
    @Suite(.enabled(if: Network.obstacle == nil, Comment(rawValue: Network.obstacle ?? "")))
    struct NetworkTests {
        private static let pace = ["latency 30ms", "streams 50"]

        private func farm() async throws -> Hosts {
            let farm = try await Hosts(Hosts.Options(faults: Self.pace, isSpread: true))
            try await farm.startAll()
            return farm
        }

        @Test func `a machine that loses its power`() async throws {
            let farm = try await farm()
            let load = try Load(farm)
            try await load.more(2)
            try farm.network?.plug("beta", isIn: false)
            farm.signal("beta", SIGKILL)
            try await farm.shared(by: ["alpha"], within: .seconds(30))
            try await load.expectBounded(workers: 2)
        }

        @Test func `a host cut off from Redis, but not from the gateway, stops in time and comes back`()
            async throws
        {
            let farm = try await farm()
            let load = try Load(farm)
            try await load.more(2)
            try farm.network?.cut("beta", Hosts.redisMachine)
            try await farm.shared(by: ["alpha"], within: .seconds(30))
            try await load.more(2)
            try farm.network?.heal("beta", Hosts.redisMachine)
            try await farm.shared(by: ["alpha", "beta"])
            try await load.more(2)
            try await load.expectBounded(workers: 2)
            #expect(!farm.coordinator("beta").hasEnded)
            // One line when it was lost, one when it was found again, in each process: no storm.
            #expect(farm.log("beta").split(separator: "\n").count < 60, "\(farm.log("beta"))")
        }

        @Test func `a host that stands still for longer than its lease is a member again afterwards`()
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
}
