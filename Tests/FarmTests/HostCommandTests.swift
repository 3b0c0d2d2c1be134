import FarmHarness
import Foundation
import Testing

extension OperatedFarms {
    /// Commands that move shards, under load.
    struct HostCommandTests {
        private static let pace = ["latency 30ms", "streams 50"]

        private func farm(_ names: [String] = ["alpha", "beta"]) async throws -> Hosts {
            let farm = try await Hosts(Hosts.Options(names: names, faults: Self.pace))
            try await farm.startAll()
            return farm
        }

        @Test func `a host is drained, comes back, is quiet, and stops`() async throws {
            let farm = try await farm()
            let load = try Load(farm)
            try await load.more(1)
            let drained = try await farm.operate("drain", "beta")
            #expect(drained.hosts.map(\.host) == ["beta"] && drained.hosts[0].text.contains("alpha"))
            #expect(try await farm.line("beta").state == "drained")
            try await farm.shared(by: ["alpha"], within: .seconds(10))
            try await load.more(1)
            try await farm.operate("reload", "beta")
            try await farm.shared(by: ["alpha", "beta"])
            try await load.more(1)
            try await farm.operate("quiet", "beta")
            #expect(try farm.shares()["beta"] ?? 0 > 0)
            #expect(try await farm.line("beta").state == "quiet")
            try await farm.operate("stop", "beta")
            #expect(try await farm.coordinator("beta").wait(within: .seconds(30)) == .exited(0))
            try await farm.shared(by: ["alpha"], within: .seconds(10))
            try await load.more(1)
            try await load.expectExactlyOnce()
        }

        @Test func `a shard is moved by hand, stays, and goes back`() async throws {
            let farm = try await farm()
            let load = try Load(farm)
            try await load.more(1)
            let usual = farm.expected(["alpha", "beta"])
            let shard = try #require((0..<10).first { usual["0\($0)"] == "alpha" })
            let moved = try await farm.run(["shards", "move", "\(shard)", "beta"], on: "alpha")
            #expect(moved.status == 0 && moved.output.contains("with beta"), "\(moved)")
            #expect(try farm.owners()["0\(shard)"] == "beta")
            try await load.more(1)
            #expect(try farm.owners()["0\(shard)"] == "beta")
            let none = try await farm.run(["shards", "move", "64", "beta"], on: "alpha")
            #expect(none.status == 2)
            let back = try await farm.run(["shards", "move", "\(shard)", "auto", "--no-wait"], on: "alpha")
            #expect(back.status == 0)
            try await farm.shared(by: ["alpha", "beta"])
            try await load.more(1)
            try await load.expectExactlyOnce()
        }

        @Test func `a shard is taken from an owner that stands still`() async throws {
            let farm = try await farm()
            let load = try Load(farm)
            try await load.more(1)
            let usual = farm.expected(["alpha", "beta"])
            let shard = try #require((0..<10).first { usual["0\($0)"] == "beta" })
            let refused = try await farm.operate(
                "takeover", "\(shard)", "--app", "demo", "--host", "alpha", status: 1)
            #expect(refused.hosts[0].text.contains("beta owns it"))
            #expect(try farm.owners()["0\(shard)"] == "beta")
            let unsure = try await farm.run(
                ["takeover", "\(shard)", "--app", "demo", "--host", "alpha", "--force"], on: "alpha")
            #expect(unsure.status == 2 && unsure.error.contains("may be sent twice"), "\(unsure)")
            farm.signal("beta", SIGSTOP)
            let taken = try await farm.operate(
                "takeover", "\(shard)", "--app", "demo", "--host", "alpha", "--force", "--yes", "\(shard)")
            #expect(taken.done == 1)
            #expect(try farm.owners()["0\(shard)"] == "alpha")
            farm.signal("beta", SIGCONT)
            try await load.more(2)
            #expect(try farm.owners()["0\(shard)"] == "alpha")
            try await load.expectBounded(workers: 2)
        }

        @Test func `a new program takes the place of a running one, and every push arrives once`()
            async throws
        {
            let farm = try await farm(["alpha"])
            let load = try Load(farm)
            try await load.more(1)
            let old = farm.coordinator("alpha")
            // One that does not start changes nothing.
            let broken = farm.folder.path + "/broken"
            try farm.folder.write("#!/bin/sh\nexit 3\n", to: "broken")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: broken)
            let refused = try await farm.operate("upgrade", "alpha", "--binary", broken, status: 1)
            #expect(refused.hosts[0].text.contains("exited(3)") && !old.hasEnded, "\(refused)")
            try await load.more(1)

            try await farm.operate("upgrade", "all")
            #expect(try await old.wait(within: .seconds(20)) == .exited(0))
            let line = try await farm.line("alpha")
            #expect(line.pid != old.pid && line.workers.map(\.shards) == [32, 32])
            try await load.more(2)
            // And another one the place of that.
            try await farm.operate("upgrade", "alpha")
            try await load.more(1)
            try await farm.operate("stop", "alpha")
            try await eventually("all have ended") { old.descendants.isEmpty }
            try farm.start("alpha")
            try await load.more(1)
            try await load.expectExactlyOnce()
        }

        @Test func `an upgrade that is aborted, and one whose new program dies, leave the old one at work`()
            async throws
        {
            let farm = try await farm(["alpha"])
            let load = try Load(farm)
            try await load.more(1)
            let old = farm.coordinator("alpha")
            // The new one stands still before it is ready.
            let slow = farm.folder.path + "/slow"
            try farm.folder.write("#!/bin/sh\nexec sleep 300\n", to: "slow")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: slow)
            let begun = try await farm.run(["upgrade", "alpha", "--binary", slow, "--no-wait"], on: "alpha")
            #expect(begun.status == 0, "\(begun)")
            let second = try await farm.operate("upgrade", "alpha", status: 1)
            #expect(second.hosts[0].text.contains("under way"))
            try await farm.operate("upgrade", "alpha", "--abort")
            try await eventually("it goes on") { farm.log("alpha").contains("aborted; this one goes on") }
            try await load.more(1)
            #expect(!old.hasEnded)
            try await load.expectExactlyOnce()
        }
    }
}
