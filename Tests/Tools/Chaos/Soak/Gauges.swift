import EventLoop
import FarmHarness
import Foundation
import RedisProtocol

/// Reads the resources of processes and the lengths of keys.
@Loop struct Gauges {
    let stage: Stage

    /// Reads all values by name: memory and descriptors of each kind of process, and the length of each key.
    func read() async throws -> [(name: String, unit: Series.Unit, value: Double)] {
        let host = stage.hosts[0]
        var groups: [(String, [pid_t])] = [
            ("coordinator", [host.coordinator.pid]), ("worker", host.pids(.worker)),
            ("intake", host.pids(.intake)), ("redis", [stage.redis.process.pid]),
            ("simulator", [stage.gateway.process.pid]),
        ]
        groups.removeAll { $0.1.isEmpty }
        var values: [(String, Series.Unit, Double)] = []
        for (name, pids) in groups {
            let memory = pids.map(ProcessUse.megabytes).max() ?? 0
            let descriptors = pids.map(ProcessUse.descriptors).max() ?? 0
            values.append((name, .megabytes, memory))
            values.append((name, .descriptors, Double(descriptors)))
        }
        return try await values + lengths()
    }

    private func lengths() async throws -> [(String, Series.Unit, Double)] {
        let redis = try await PlainRedis(stage.redis.socket)
        let names = try await redis.call(["KEYS", "{pushfarm:demo}:*"], within: .seconds(10)).array ?? []
        let keys = names.compactMap(\.text).filter { !$0.contains(":job:") } + ["pushfarm:demo"]
        let types = try await redis.call(keys.map { ["TYPE", $0] }, within: .seconds(10))
        let commands = zip(keys, types).map { key, type in
            switch type.text {
            case "list": ["LLEN", key]
            case "hash": ["HLEN", key]
            case "zset": ["ZCARD", key]
            case "stream": ["XLEN", key]
            case "set": ["SCARD", key]
            default: ["EXISTS", key]
            }
        }
        let counts = try await redis.call(commands, within: .seconds(10)).map { Double($0.integer ?? 0) }
        // Keys of the same kind are counted together for all shards. A missing key counts as 0.
        var sums = Dictionary(uniqueKeysWithValues: Self.always.map { ($0, 0.0) })
        for (key, count) in zip(keys, counts) { sums[Self.kind(of: key), default: 0] += count }
        let used = try await redis.call(["INFO", "memory"]).text ?? ""
        let bytes =
            used.split(whereSeparator: \.isNewline).first { $0.hasPrefix("used_memory:") }
            .flatMap { Double($0.dropFirst(12)) } ?? 0
        // The memory of the events stream is a series of its own: at the start, the run fills the stream with small entries, and
        // within hours larger entries replace them. So this memory grows although the stream does not get longer.
        let events = try await redis.call(
            ["MEMORY", "USAGE", "{pushfarm:demo}:events", "SAMPLES", "0"], within: .seconds(10)
        ).integer.map(Double.init)
        return sums.sorted { $0.key < $1.key }.map { ($0.key, .entries, $0.value) }
            + [
                ("redis, its data", .megabytes, bytes / 1_048_576),
                ("redis, the events stream", .megabytes, (events ?? 0) / 1_048_576),
            ]
    }

    private static let always = [
        "inbox", "taken", "ready", "bulk", "in_flight", "delayed", "batches", "states", "results", "paused",
    ]

    private static func kind(of key: String) -> String {
        key == "pushfarm:demo" ? "inbox" : String(key.split(separator: ":")[2])
    }
}

/// Reads the system's numbers about a process.
enum ProcessUse {
    static func megabytes(_ pid: pid_t) -> Double {
        let text = FileManager.default.contents(atPath: "/proc/\(pid)/status") ?? Data()
        let line = String(decoding: text, as: UTF8.self).split(separator: "\n").first {
            $0.hasPrefix("VmRSS:")
        }
        let words = line?.split(whereSeparator: \.isWhitespace) ?? []
        return words.count > 1 ? (Double(words[1]) ?? 0) / 1024 : 0
    }

    static func descriptors(_ pid: pid_t) -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count) ?? 0
    }
}
