import FarmHarness
import Foundation
import RandomTesting
import Testing

/// Puts values that no farm writes into each key and channel that the farm's processes read.
@Suite(.startsProcesses(limit: .seconds(480))) struct HostileFarmTests {
    private static let seed: UInt64 = 2026

    @Test(arguments: 0..<2)
    func `no hostile value crashes a process, and deliveries resume afterwards`(round: Int) async throws {
        let farm = try await Farm(Farm.Options(appLines: ["audit: {megabytes: 1}"]))
        let before = try await farm.ready()
        try await fill(farm)
        let hostile = HostileRedis(try farm.redis.client(), seed: Self.seed + UInt64(round))
        let names = try hostile.names()
        #expect(names.count > 40, "\(names)")
        for name in names { try hostile.publish(name) }
        for name in names {
            try hostile.attack(name, round: round)
            try await check(farm, name)
            try hostile.restore(name)
            try #require(
                trap(in: farm.coordinator.error) == nil && !farm.coordinator.hasEnded,
                "\(name), round \(round): \(trap(in: farm.coordinator.error) ?? "")")
        }
        try await attack(controlSocketOf: farm)
        try await operate(farm)

        try await setRates(farm)
        let job = Job(id: "last", tokens: Array(Tokens.make(540).suffix(500)))
        try farm.push([job])
        #expect(try await farm.finished([job]).delivered == 500)
        let after = try await farm.ready()
        #expect(after.pid == before.pid && after.intake.pid == before.intake.pid)
        // A worker may exit when its shards get another owner. No worker may end for any other reason.
        let ends = farm.coordinator.error.split(separator: "\n").filter { $0.contains("worker ended") }
        #expect(ends.allSatisfy { $0.contains("exited(75)") }, "\(ends)")
        #expect(after.workers.map(\.state) == ["ready", "ready"])
        // The farm logs refused values, but must not log them thousands of times.
        let reported = farm.coordinator.error.split(separator: "\n").filter {
            $0.contains("a value is refused")
        }
        #expect(reported.contains { $0.contains("{pushfarm:demo}:wakeups") }, "\(reported)")
        #expect(reported.contains { $0.contains("{pushfarm:demo}:admission rate") }, "\(reported)")
        #expect(reported.count < 20, "\(reported)")
    }

    /// Sends jobs and commands to the farm, so that Redis contains every kind of key.
    private func fill(_ farm: Farm) async throws {
        let tokens = Tokens.make(40)
        let later = Int(Date().timeIntervalSince1970) + 86_400
        _ = try farm.gateway.control("token \(tokens[0]) unregistered")
        let plain = Job(id: "plain", tokens: Array(tokens[..<20]), fields: #""receipts":"all""#)
        try farm.push([plain])
        _ = try await farm.finished(plain.id)
        _ = try farm.gateway.control("answer 400 reason=BadPriority")
        let failing = Job(id: "failing", tokens: Array(tokens[20..<23]))
        try farm.push([failing])
        _ = try await farm.finished(failing.id)
        _ = try farm.gateway.control("answer off")
        try farm.push("no job at all")
        for index in 0..<3 {
            try farm.push([
                Job(
                    id: "later-\(index)", tokens: [tokens[30 + index]],
                    fields: #""deliver_at":\#(later)"#)
            ])
        }
        _ = try await farm.run("debug", "log-level", "info", "all")
        _ = try await farm.event("job.refused")
        let redis = try farm.redis.client()
        try await eventually("jobs wait") {
            try redis.run("ZCARD", "{pushfarm:demo}:delayed").integer == 3
        }
        try redis.pipeline(
            [
                ["HSET", "{pushfarm:demo}:paused_jobs", "other", "1780000000000 pause me why"]
            ] + HostileRedis.operatorEntries)
    }

    /// Makes the farm read all keys, and waits until the coordinator has done its periodic checks.
    private func check(_ farm: Farm, _ name: String) async throws {
        let redis = try farm.redis.client()
        let start = end(of: redis) ?? 0
        _ = try? redis.run("RPUSH", "pushfarm:demo", Job(id: name, tokens: Tokens.make(3)).text)
        _ = try? redis.run("HINCRBY", "{pushfarm:demo}:admission", "pause_changes", "1")
        for word in [
            "refresh", "hosts", "operation", "quarantine_ended", "leases_released demo", "feedback demo",
        ] {
            try redis.run("PUBLISH", "{pushfarm}:coordinators", word)
        }
        try redis.run("PUBLISH", "{pushfarm:demo}:wakeups", "*")
        try redis.run("PUBLISH", "{pushfarm:demo}:wakeups", "s 0 1 2 3")
        // The coordinator does its checks once a second. When its heartbeats have extended the expiry time by 1.2 seconds, the
        // checks are done. If the registry of hosts is unreadable, the test finds no heartbeat and waits for 3 seconds.
        _ = try? await eventually("the coordinator has done its checks", within: .seconds(3)) {
            end(of: redis).map { $0 >= start + 1_200 } ?? false
        }
    }

    /// Returns the expiry time of the host's heartbeat. Each heartbeat extends this time.
    private func end(of redis: BlockingRedisClient) -> Int? {
        (try? redis.run("HGET", "{pushfarm}:hosts", "here"))?.text?.split(separator: " ").first
            .flatMap { Int($0) }.flatMap { (0...(1 << 50)).contains($0) ? $0 : nil }
    }

    private func attack(controlSocketOf farm: Farm) async throws {
        let path = farm.folder.path + "/var/control.sock"
        try #require(FileManager.default.fileExists(atPath: path))
        var random = SplitMix(seed: Self.seed)
        for length in [0, 1, 3, 4, 5, 200, 5_000] {
            for head in [[], [0xFF, 0xFF, 0xFF, 0xFF], [0, 0, 0, 0], [0, 0, 1, 0, 1]] as [[UInt8]] {
                let socket = try UnixSocket(path)
                try? socket.send(head + random.bytes(length))
            }
        }
    }

    /// Sends numbers that crashed earlier versions, through Redis and the control socket.
    private func operate(_ farm: Farm) async throws {
        // The test skips positive numbers, because they are valid numbers of workers.
        for number in HostileValues.numbers where !(Int(number).map { $0 > 0 } ?? false) {
            let redis = try farm.redis.client()
            try redis.run("HSET", "{pushfarm}:desired", "scale:here", number)
            try redis.run("PUBLISH", "{pushfarm}:coordinators", "refresh")
        }
        try farm.redis.client().run("HDEL", "{pushfarm}:desired", "scale:here")
        let most = "9223372036854775807"
        for words in [
            ["scale", "+" + most, "all", "--dry-run"],
            ["scale", "+" + most, "all", "--dry-run", "--local"],
            ["scale", most, "all", "--dry-run"], ["restart", "here/" + most, "--dry-run"],
            ["debug", "takeover", "demo", most, "--dry-run"], ["rate", "demo", "1e-300/s"],
            ["rate", "demo", "1e308/s"], ["top", "--once"], ["status"],
        ] {
            _ = try await farm.run(words + ["--config", farm.folder.path + "/pushfarm.yaml"])
        }
    }

    /// Sets invalid rates. The farm must log each invalid rate and keep the app's configured rate.
    private func setRates(_ farm: Farm) async throws {
        let redis = try farm.redis.client()
        for number in HostileValues.numbers where !["64", "65536", "1.5"].contains(number) {
            try redis.run("HSET", "{pushfarm:demo}:admission", "rate", number)
            try redis.run("PUBLISH", "{pushfarm}:coordinators", "refresh")
        }
        try redis.run("HSET", "{pushfarm:demo}:admission", "rate", "1e308")
        try await eventually("the log tells of the rate") {
            try redis.run("PUBLISH", "{pushfarm}:coordinators", "refresh")
            return farm.coordinator.error.contains("{pushfarm:demo}:admission rate")
        }
        try redis.run("HDEL", "{pushfarm:demo}:admission", "rate")
        try redis.run("PUBLISH", "{pushfarm}:coordinators", "refresh")
    }

    /// Returns the log line about a process that crashed.
    private func trap(in log: String) -> String? {
        log.split(separator: "\n").first {
            $0.contains("killed(signal") || $0.contains("Fatal error") || $0.contains(" hangs")
        }.map(String.init)
    }
}
