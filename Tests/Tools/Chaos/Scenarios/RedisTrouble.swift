import ChaosChecker
import EventLoop
import FarmHarness
import Foundation
import RedisProtocol

/// Scenarios in which Redis crashes, hangs, loses data or refuses writes.
extension Scenario {
    static let redisTrouble: [Scenario] =
        ["everysec", "always"].map { mode in
            Scenario(7, "kill Redis, \(mode)", .with { $0.redis = ["--appendfsync", mode] }) { stage in
                stage.startFlow()
                try await stage.again(every: .seconds(2)) {
                    try await stage.fault("kill Redis") { try await stage.redis.crash() }
                }
            }
        } + [
            Scenario(8, "reset Redis by 2 s") { stage in
                stage.startFlow()
                for _ in 0..<(stage.scale.isShort ? 1 : 3) {
                    try await stage.pause(.seconds(3))
                    try await stage.rollBack(by: .seconds(2))
                }
                try await stage.pause(.seconds(2))
            },
            Scenario(9, "stop Redis for 20 s", .with { $0.connections = 4 }) { stage in
                stage.startFlow()
                try await stage.pause(.seconds(2))
                // The farm's processes abandon connections to Redis after a timeout. Then it is unknown whether Redis has
                // executed the calls on these connections.
                try await stage.fault("stop Redis") {
                    stage.redis.process.signal(SIGSTOP)
                    try await stage.pause(.seconds(stage.scale.isShort ? 14 : 20))
                    stage.redis.process.signal(SIGCONT)
                }
                try await stage.pause(.seconds(2))
            },
            Scenario(12, "memory is full") { stage in try await stage.fillMemory() },
            Scenario(13, "disk is full, everysec", .with { $0.redis = ["--appendfsync", "everysec"] }) {
                stage in
                stage.startFlow()
                try await stage.pause(.seconds(2))
                try await stage.fault("disk full") {
                    try await stage.limitFiles(true)
                    try await stage.pause(.seconds(stage.scale.isShort ? 5 : 10))
                    try await stage.limitFiles(false)
                }
                try await stage.pause(.seconds(2))
            },
            Scenario(13, "disk is full, always", .with { $0.redis = ["--appendfsync", "always"] }) { stage in
                stage.startFlow()
                try await stage.pause(.seconds(2))
                try await stage.fault("disk full") {
                    try await stage.limitFiles(true)
                    // Redis exits because it cannot write data that it has acknowledged.
                    _ = try await stage.redis.process.wait()
                    try await stage.pause(.seconds(2))
                    try await stage.redis.restart()
                }
                try await stage.pause(.seconds(2))
            },
            Scenario(14, "Redis is read-only") { stage in
                stage.startFlow()
                try await stage.again(every: .seconds(2)) {
                    try await stage.fault("read-only") {
                        try stage.runInRedis("REPLICAOF", "127.0.0.1", "1")
                        try await stage.pause(.seconds(stage.scale.isShort ? 3 : 5))
                        try stage.runInRedis("REPLICAOF", "NO", "ONE")
                    }
                }
            },
            Scenario(15, "flush scripts, kill clients, set a timeout") { stage in
                stage.startFlow()
                let commands = [
                    ["SCRIPT", "FLUSH"], ["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"],
                    ["CLIENT", "KILL", "TYPE", "pubsub"], ["CONFIG", "SET", "timeout", "1"],
                ]
                var round = 0
                try await stage.again(every: .milliseconds(300)) {
                    round += 1
                    let words = commands[round % commands.count]
                    try await stage.fault(words.joined(separator: " ")) {
                        _ = try stage.redis.client().run(words)
                    }
                }
                try stage.runInRedis("CONFIG", "SET", "timeout", "0")
            },
        ]
}

extension Stage {
    @discardableResult
    func runInRedis(_ words: String...) throws -> RESPValue { try redis.client().run(words) }

    /// Stops Redis, truncates its append-only file to an earlier size, and starts Redis again.
    func rollBack(by duration: Duration) async throws {
        let file = redis.appendOnlyFile
        let size = try FileManager.default.attributesOfItem(atPath: file)[.size] as? UInt64 ?? 0
        let start = WallTime.now
        try await pause(duration)
        try await fault("reset Redis") {
            let stopped = WallTime.now
            try await redis.kill()
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
            try handle.truncate(atOffset: size)
            try handle.close()
            try await redis.restart()
            let end = WallTime.now
            // The size was measured at `start`. At this time, the data of the last second may have been missing in the file, so
            // this data may be lost too.
            expectation.rollBacks.append(RollBack(forgotten: start - 1_100...end, away: stopped...end))
            // Pushes that were settled after the measurement of the size are open again, so the farm may deliver them a second
            // time.
            let sent = try deliveries(since: start - 1_100)
            expectation.doubles += sent + hosts.count * options.workers * Stage.window
            expectation.keepsOrder = false
        }
    }

    /// Counts the deliveries in the gateway's ledger since a time.
    func deliveries(since time: Int64) throws -> Int {
        let text = try String(contentsOfFile: gateway.ledgerFile, encoding: .utf8)
        return text.split(separator: "\n").reversed().prefix { line in
            let digits = line.dropFirst(8).prefix { $0.isNumber }
            return Int64(digits).map { $0 >= time } ?? true
        }.count
    }

    /// Producers fill Redis to its memory limit while the farm must continue to deliver.
    func fillMemory() async throws {
        try gateway.control("latency 200ms")
        for _ in 0..<10 { await push(500) }
        let info = try runInRedis("INFO", "memory").text ?? ""
        let used =
            info.split(whereSeparator: \.isNewline).first { $0.hasPrefix("used_memory:") }
            .flatMap { Int($0.dropFirst(12)) } ?? 0
        try await fault("memory full") {
            try runInRedis("CONFIG", "SET", "maxmemory", "\(used + 300_000)")
            let before = producers[0].refusals
            for _ in 0..<2_000 where producers[0].refusals < before + 3 { await push(500) }
            if producers[0].refusals < before + 3 { complain("Redis refused no job") }
            try gateway.control("latency 20ms")
            // Redis refuses further jobs now, but the farm must deliver all accepted pushes.
            let accepted = await observer.observe() ?? [:]
            try await eventually("the backlog drains while memory is full", within: .seconds(90)) {
                let now = await observer.observe() ?? [:]
                let open = accepted.keys.filter { now[$0]?["state"] != "finished" }
                return open.isEmpty
            }
            try runInRedis("CONFIG", "SET", "maxmemory", "0")
        }
    }

    /// Limits the size of Redis's files, or removes the limit.
    func limitFiles(_ isFull: Bool) async throws {
        let size = try FileManager.default.attributesOfItem(atPath: redis.appendOnlyFile)[.size] as? UInt64
        let limit = isFull ? "\(size ?? 0)" : "unlimited"
        let command = try Child(
            "prlimit", "prlimit", ["--pid", "\(redis.process.pid)", "--fsize=\(limit):unlimited"],
            in: folder.path)
        guard try await command.wait() == .exited(0) else {
            throw Overdue(description: "cannot limit the size of files: \(command.error)")
        }
    }
}
