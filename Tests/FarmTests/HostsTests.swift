import FarmHarness
import Foundation
import Testing

/// Several hosts on one machine that start, stop and crash.
@Suite(.startsProcesses(limit: .seconds(300))) struct HostsTests {
    /// A gateway that is so slow that pushes are always in flight.
    private static let pace = ["latency 30ms", "streams 50"]

    @Test func `hosts that start and stop under load lose and duplicate no push`() async throws {
        let farm = try await Farm(hosts: Farm.twoHosts, Farm.Options(faults: Self.pace))
        try farm.start("alpha")
        // With no other host, the host owns all shards soon after its start.
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
            for trouble in Farm.leaseTroubles + ["takes work again", "retry_in"] {
                #expect(!log.contains(trouble), "\(log)")
            }
        }
    }

    @Test func `all hosts share one provider token, including hosts that join later or return`()
        async throws
    {
        let farm = try await Farm(hosts: Farm.twoHosts, Farm.Options(workers: 1))
        func mintedTokens(_ host: String) -> Int {
            farm.log(host).components(separatedBy: "provider token created").count - 1
        }
        func deliver(_ id: String, _ seed: UInt64) async throws {
            let job = Job(id: id, tokens: Tokens.make(640, seed: seed))
            try farm.push([job])
            #expect(try await farm.finished([job]).delivered == 640)
        }
        try farm.start("alpha")
        try await farm.shared(by: ["alpha"], within: .seconds(20))
        try await deliver("alone", 1)
        try farm.start("beta")
        try await farm.shared(by: ["alpha", "beta"])
        try await deliver("both", 2)
        #expect(mintedTokens("alpha") == 1 && mintedTokens("beta") == 0, "\(farm.log("beta"))")
        #expect(farm.log("beta").contains("using another host's provider token"))
        farm.coordinator("alpha").signal(SIGTERM)
        #expect(try await farm.coordinator("alpha").wait(within: .seconds(30)) == .exited(0))
        try await deliver("beta", 3)
        try farm.start("alpha")
        try await farm.shared(by: ["alpha", "beta"])
        try await deliver("again", 4)
        #expect(mintedTokens("alpha") == 1 && mintedTokens("beta") == 0, "\(farm.log("alpha"))")
        // Both hosts used one provider token, so the gateway verified one token only.
        #expect(try farm.gateway.counter("tokens_verified") == 1)
    }

    /// Each host has an intake process, but only one host owns the intake of an app. When another host takes the intake over,
    /// that host's intake process continues where the previous owner's process stopped.
    @Test
    func `an app's intake moves to another host and back in job order, also after FENCED`()
        async throws
    {
        let apps = ["demo", "mail", "news", "chat"]
        let farm = try await Farm(
            hosts: Farm.twoHosts,
            Farm.Options(
                workers: 1, faults: Self.pace, appNames: apps,
                lines: [#"metrics: { listen: "unix://FOLDER/metrics.sock" }"#]))
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
        for (host, isBeta) in [("alpha", false), ("beta", true)] {
            let page = try HTTPReply.get("/metrics", at: farm.folder.path + "/\(host)/metrics.sock").body
            let owned = try Scrape(page).samples.filter {
                $0.name == "pushfarm_intake_owner" && $0.value == 1
            }
            let expected = apps.filter { moving.contains($0) == isBeta }
            #expect(Set(owned.compactMap { $0.labels["app"] }) == Set(expected), "\(host)")
        }
        let app = try #require(moving.first)
        let owners = "{pushfarm:\(app)}:owners"
        // The test writes another owner of the intake to Redis.
        // The intake process notices the other owner with the next job, if the coordinator does not notice it earlier.
        try farm.redis.client().run("HSET", owners, "intake", "99:stranger:elsewhere")
        try await eventually("the intake is acquired again") {
            let (owner, log) = (try farm.owners(of: app)["intake"], farm.log("beta"))
            let isReported = ["another host owns the app's intake", "leases lost app=\(app)"].contains {
                log.contains($0)
            }
            return isReported && owner == "beta"
        }
        for load in loads { try await load.more(2) }
        farm.coordinator("beta").signal(SIGTERM)
        #expect(try await farm.coordinator("beta").wait(within: .seconds(30)) == .exited(0))
        try await farm.shared(by: ["alpha"], within: .seconds(15))
        for load in loads { try await load.more(2) }
        try await Load.expectExactlyOnce(loads)
    }

    @Test func `living hosts take over a dead host's shards within 16 seconds`() async throws {
        let farm = try await Farm(
            hosts: ["alpha", "beta", "gamma"], Farm.Options(workers: 1, faults: Self.pace))
        try await farm.startAll()
        let load = try Load(farm)
        try await load.more(2)
        let beta = farm.coordinator("beta")
        farm.signal("beta", SIGKILL)
        _ = try await beta.wait()
        let start = ContinuousClock.now
        try await eventually("the dead host owns nothing", within: .seconds(40)) {
            let owners = try farm.owners()
            return owners.count == 65 && !owners.values.contains("beta")
        }
        let took = ContinuousClock.now - start
        #expect(took < .seconds(16), "\(took)")
        let gone = try await farm.line("beta")
        #expect(gone.state == "gone" && gone.workers.map(\.state) == ["gone"])
        #expect(gone.intake.state == "gone" && gone.workers[0].shards == 0)
        // After the crash the remaining hosts divide all shards evenly.
        try await farm.shared(by: ["alpha", "gamma"], within: .seconds(40))
        try await load.more(2)
        try await load.expectBounded(workers: 1)
    }

    @Test func `a second coordinator with the same host name is refused while the first lives`()
        async throws
    {
        let farm = try await Farm(hosts: Farm.twoHosts)
        try farm.start("alpha")
        try await farm.shared(by: ["alpha"])
        let double = try farm.start("other", as: "alpha")
        #expect(try await double.wait(within: .seconds(20)) == .exited(2))
        #expect(double.error.contains("another coordinator with the host name alpha is alive"))
        #expect(!farm.coordinator("alpha").hasEnded)
        // A second coordinator with the same state folder exits before it reads anything else.
        let home = farm.folder.path + "/alpha"
        let twin = try Child(
            "twin", BuiltProgram.path,
            ["coordinator", "--config", home + "/pushfarm.yaml", "--set", "log.file=\(home)/twin.log"],
            in: home)
        #expect(try await twin.wait(within: .seconds(40)) == .exited(2))
        let reason = "another coordinator of this state folder is running"
        // The reason is on standard error and in the log.
        #expect(twin.error.hasPrefix("pushfarm: " + reason), "\(twin.error)")
        let log = try String(contentsOfFile: home + "/twin.log", encoding: .utf8)
        #expect(log.contains("critical coordinator  " + reason), "\(log)")
        #expect(try farm.shares() == ["alpha": 64])
        // The heartbeat of a killed coordinator stays in Redis for some seconds.
        farm.signal("alpha", SIGKILL)
        _ = try await farm.coordinator("alpha").wait()
        let newOwner = try farm.start("other", as: "alpha")
        try await eventually("it takes over", within: .seconds(30)) {
            try farm.redis.client().run("HGET", "{pushfarm}:hosts", "alpha").text?
                .contains("\"pid\":\(newOwner.pid)") == true
        }
        #expect(!newOwner.hasEnded)
    }
}

/// Tests of a single host.
@Suite(.startsProcesses(limit: .seconds(300))) struct SingleHostTests {
    /// A restarted Redis may have lost the data of its last second, so it may contain the heartbeat of a predecessor again.
    @Test func `a coordinator continues when Redis restores an old heartbeat of its host`() async throws {
        let farm = try await Farm(hosts: Farm.twoHosts)
        let alpha = try farm.start("alpha")
        try await farm.shared(by: ["alpha"], within: .seconds(20))
        let client = try farm.redis.client()
        let seconds = Int(try client.run("TIME").array?.first?.text ?? "") ?? 0
        try client.run(
            "HSET", "{pushfarm}:hosts", "alpha", "\(seconds * 1000 + 6000) stranger 2 demo {}")
        try await eventually("the line is its own again", within: .seconds(30)) {
            try #require(!alpha.hasEnded, "\(alpha.error)")
            return try client.run("HGET", "{pushfarm}:hosts", "alpha").text?
                .contains("\"pid\":\(alpha.pid)") == true
        }
        let jobs = [Job(id: "after", tokens: Tokens.make(20))]
        try farm.push(jobs)
        #expect(try await farm.finished(jobs).delivered == 20)
    }

    @Test func `a coordinator exits with a reason when another one renews its host name`() async throws {
        let farm = try await Farm(hosts: ["alpha"])
        let alpha = try farm.start("alpha")
        try await farm.shared(by: ["alpha"], within: .seconds(20))
        let client = try farm.redis.client()
        try await eventually("it ends", within: .seconds(60)) {
            // The test writes the heartbeat of another coordinator repeatedly.
            let seconds = Int(try client.run("TIME").array?.first?.text ?? "") ?? 0
            try client.run(
                "HSET", "{pushfarm}:hosts", "alpha", "\(seconds * 1000 + 6000) stranger 2 demo {}")
            return alpha.hasEnded
        }
        #expect(try await alpha.wait(within: .seconds(10)) == .exited(2))
        #expect(alpha.error.contains("another coordinator took this host's name"), "\(alpha.error)")
    }

    @Test func `an app whose keys Redis refuses stops, and other apps continue`() async throws {
        let farm = try await Farm(hosts: Farm.twoHosts, Farm.Options(appNames: ["demo", "mail"]))
        try farm.start("alpha")
        try await farm.shared(by: ["alpha"], within: .seconds(20))
        let client = try farm.redis.client()
        let (mail, aside) = ("{pushfarm:mail}:owners", "{pushfarm:mail}:aside")
        // One script makes both changes in one step. If the coordinator renewed its leases between the two changes, it would drop
        // the leases, and no lease would expire.
        try client.run(
            "EVAL", "redis.call('RENAME', KEYS[1], KEYS[2]) redis.call('SET', KEYS[1], 'x') return 1",
            "2",
            mail, aside)
        func leaseEnd() throws -> Int {
            let fields = try client.run("HGETALL", "{pushfarm:demo}:owners").fields
            return fields.filter { $0.key.hasPrefix("until:") }.compactMap { Int($0.value) }.max() ?? 0
        }
        // The test waits for longer than a lease lasts.
        let start = try leaseEnd()
        try await eventually("leases go on", within: .seconds(40)) { try leaseEnd() > start + 14_000 }
        let ended = farm.log("alpha").split(separator: "\n").filter { $0.contains("leases expired") }
        #expect(ended.count == 1 && ended[0].contains("mail"), "\(ended)")
        let jobs = [Job(id: "on", tokens: Tokens.make(20))]
        try farm.push(jobs)
        #expect(try await farm.finished(jobs).delivered == 20)
        try client.run("RENAME", aside, mail)
        try await eventually("mail is served again", within: .seconds(30)) {
            farm.log("alpha").contains("leases are renewed again")
        }
        try client.run("RPUSH", "pushfarm:mail", Job(id: "mail", tokens: Tokens.make(20, seed: 2)).text)
        let late = [Job(id: "mail", tokens: Tokens.make(20, seed: 2))]
        #expect(try await farm.finished(late, app: "mail").delivered == 20)
    }
}
