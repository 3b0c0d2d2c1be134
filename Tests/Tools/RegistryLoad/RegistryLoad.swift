import FarmHarness
import Foundation
import RedisProtocol
import Registry
import StoreProtocol

/// Plans registrations and applies them to a private Redis.
final class RegistryLoad {
    /// The processor time since the start, and the memory in use.
    struct Usage {
        /// Redis's processor time in microseconds.
        var redis: Double
        /// The planner's processor time in microseconds.
        var planner: Double
        /// Redis's memory.
        var bytes: Int

        static func - (one: Usage, other: Usage) -> Usage {
            Usage(
                redis: one.redis - other.redis, planner: one.planner - other.planner,
                bytes: one.bytes - other.bytes)
        }
    }

    private let server: RedisServer
    private let client: BlockingRedisClient
    private let keys = RegistryKeys(app: "load")
    private let hash: [UInt8]
    private var partitions: [PartitionCache]
    private var calls = 0
    private var planning = 0.0
    private static let start: Int64 = 1_790_000_000

    init() throws {
        server = try RedisServer(scratch: ["--hash-max-listpack-value", "1024"])
        client = try BlockingRedisClient(server.socket, waitsForServer: true)
        hash = try client.run(Script.applyChanges.loadCommand).bytes ?? []
        partitions = keys.allPartitions.map { _ in PartitionCache(meta: [:], names: AttributeNames()) }
    }

    func apply(_ inputs: [DeviceInput]) throws {
        let start = Self.processorTime()
        var plan = RegistryPlan(
            inputs, keys: keys, partitions: partitions, now: Self.start, reusableBefore: .max)
        while case let reads = try plan.nextReads(), !reads.isEmpty {
            let values = try replies(reads.map { $0.command(keys) })
            try plan.receive(zip(reads, values).map { try $0.reply($1) })
        }
        for step in PlanStep.allCases {
            let commands = plan.changes(of: step).map { changes in
                calls += 1
                return ApplyChanges(
                    version: changes.version, name: "\(calls)", changes: changes.changes
                ).command(keys.keys(ofPartition: changes.partition), hash: hash)
            }
            for value in try replies(commands) { if let error = value.error { throw error } }
        }
        partitions = plan.after
        planning += Self.processorTime() - start
        guard plan.results.allSatisfy({ $0 == .applied }) else {
            throw RESPServerError(message: "ERR refused")
        }
    }

    private func replies(_ commands: [RESPCommand]) throws -> [RESPValue] {
        try client.send(commands)
        return try commands.map { _ in try client.receive() }
    }

    /// The processor time of this process in microseconds. This time includes sending commands and reading replies.
    private static func processorTime() -> Double { Double(clock()) * 1e6 / Double(CLOCKS_PER_SEC) }

    func usage() throws -> Usage {
        let text = try client.run("INFO").text ?? ""
        func number(_ name: String) -> Double {
            text.split(whereSeparator: \.isNewline).first { $0.hasPrefix(name + ":") }
                .flatMap { Double($0.dropFirst(name.count + 1)) } ?? 0
        }
        return Usage(
            redis: (number("used_cpu_user") + number("used_cpu_sys")) * 1e6, planner: planning,
            bytes: Int(number("used_memory")))
    }

    /// The memory of the keys of each kind, such as `dev` or `bits`.
    func bytesByKind() throws -> [(kind: String, bytes: Int)] {
        var sums: [String: Int] = [:]
        var cursor = "0"
        repeat {
            let page = try client.run("SCAN", cursor, "COUNT", "2000").array ?? []
            cursor = page.first?.text ?? "0"
            let names = (page.last?.array ?? []).compactMap(\.text)
            for (name, bytes) in zip(
                names, try client.pipeline(names.map { ["MEMORY", "USAGE", $0, "SAMPLES", "0"] }))
            {
                let kind = name.split(separator: ":").dropFirst(3).first.map(String.init) ?? name
                sums[kind, default: 0] += Int(bytes.integer ?? 0)
            }
        } while cursor != "0"
        return sums.sorted { $0.key < $1.key }.map { (kind: $0.key, bytes: $0.value) }
    }
}
