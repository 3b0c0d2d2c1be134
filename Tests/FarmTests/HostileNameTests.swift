import FarmHarness
import Foundation
import Testing

/// Names in Redis that try to control an operator's terminal.
@Suite(.startsProcesses) struct HostileNameTests {
    /// A name whose control characters clear a terminal's screen, set its title, use 8-bit controls, overwrite the line, and ring
    /// the bell.
    private static let name = "e\u{1B}[2J\u{1B}]0;t\u{7}\u{9B}2J\u{85}\rv\u{8}\u{7F}il\u{1B}"

    private static func controls(in text: String) -> [String] {
        text.unicodeScalars.filter { $0.value < 32 && $0 != "\n" || (127..<160).contains($0.value) }
            .map { String($0.value, radix: 16) }
    }

    @Test func `names from Redis cannot control the terminal through a command or a log`() async throws {
        let farm = try await Farm()
        _ = try await farm.ready()
        let client = try farm.redis.client()
        let (name, own) = (Self.name, "{pushfarm:demo}:")
        try farm.push([Job(id: "seen", tokens: Tokens.make(1))])
        _ = try await farm.finished("seen")
        try client.run("SADD", "{pushfarm}:apps", name)
        try client.run("HSET", "{pushfarm}:hosts", name, "99999999999999 \(name) 1 demo {}")
        try client.run("HSET", "{pushfarm}:desired", "scale:\(name)", "2", "pin:demo:01", name)
        try client.run("HSET", "{pushfarm}:active_alerts", "host_gone:\(name)", "1 1 \(name)")
        try client.run(
            "XADD", "{pushfarm}:alerts", "*", "type", "alert.fired", "alert", name, "text", name)
        let operation = [
            "id", name, "by", name, "host", name, "verb", name, "arguments", name, "text", name,
        ]
        try client.run(["XADD", "{pushfarm}:operations", "*"] + operation)
        try client.run("HSET", "{pushfarm}:operation:o", "start_deadline", "99999999999999")
        try client.run(
            "XADD", "{pushfarm}:operations", "*", "id", "o", "by", name, "host", "*", "verb",
            "dump\(name)")
        try client.run("PUBLISH", "{pushfarm}:coordinators", "operation")
        try client.run("PUBLISH", "{pushfarm}:coordinators", "left \(name)")
        try client.run("XADD", own + "events", "*", "type", name, "job", name, name, name)
        try client.run("XADD", own + "refused", "*", "job", name, "field", name, "reason", name)
        try client.run("HSET", own + "job:\(name)", "state", "open", "accepted", "1", "replay_of", name)
        try client.run("ZADD", own + "jobs", "99999999999999", name)
        try client.run("HSET", own + "paused_jobs", name, "1 pause \(name) \(name)")
        try await eventually("the operation is answered") {
            farm.coordinator.error.contains("does not know dump")
        }
        let here = ["--config", farm.folder.path + "/pushfarm.yaml"]
        for arguments in [
            ["status"], ["status", "--json"], ["top", "--once"], ["jobs"], ["jobs", "--json"],
            ["jobs", "--running"],
            ["job", name, "--app", "demo"], ["job", name], ["events", "--since", "1h"],
            ["events", "--since", "1h", "--json"], ["events", "--operations"], ["find", "--job", name],
            ["find", "--token", Tokens.make(1)[0]], ["shards"], ["shards", "--json"],
            ["paused"],
            ["refused", "list"], ["dead", "list"], ["backlog"], ["debug", "fsck"],
            ["pause", "--job", name, "--dry-run"],
            ["shards", "move", "3", name], ["quiet", name, "--timeout", "1"],
            ["scale", "2", name, "--timeout", "1"],
            ["rate", name, "5/s"], ["suppressed", "list"], ["doctor"],
        ] {
            let result = try await farm.run(arguments + here)
            let said = result.output + result.error
            #expect(!said.isEmpty || arguments == ["suppressed", "list"], "\(arguments)")
            #expect(Self.controls(in: said) == [], "\(arguments): \(said.debugDescription)")
        }
        #expect(Self.controls(in: farm.coordinator.error) == [])
    }
}
