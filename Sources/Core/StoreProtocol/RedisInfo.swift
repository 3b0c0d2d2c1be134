/// The parts of the reply to INFO that a farm depends on.
package struct RedisInfo: Sendable {
    private let fields: [Substring: Substring]

    package init(_ text: String) {
        var fields: [Substring: Substring] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { fields[parts[0]] = parts[1] }
        }
        self.fields = fields
    }

    private func text(_ name: Substring) -> String { fields[name].map(String.init) ?? "" }
    private func number(_ name: Substring) -> Int { fields[name].flatMap { Int(foreign: $0) } ?? 0 }

    package var version: String { text("redis_version") }
    /// The id of the running server process; it changes with each restart.
    package var runID: String { text("run_id") }
    /// The server's time in milliseconds since 1970; 0 if INFO does not contain it.
    package var time: Int64 { Int64(foreign: text("server_time_usec").dropLast(3)) ?? 0 }
    package var role: String { text("role") }
    /// Redis's memory limit in bytes; 0 means no limit.
    package var maxMemory: Int { number("maxmemory") }
    package var usedMemory: Int { number("used_memory") }
    /// The bytes that Redis compares with ``maxMemory``. Redis does not count the buffers of replicas and of the append-only
    /// file.
    package var countedMemory: Int { usedMemory - number("mem_not_counted_for_evict") }
    /// The bytes that Redis may use: ``maxMemory``, or the machine's memory; 0 if both are unknown.
    package var memoryLimit: Int { maxMemory > 0 ? maxMemory : systemMemory }
    package var systemMemory: Int { number("total_system_memory") }
    /// Redis's eviction policy; a farm needs "noeviction".
    package var evictionPolicy: String { text("maxmemory_policy") }
    package var isAppendOnly: Bool { number("aof_enabled") == 1 }
    package var isLastAppendOK: Bool { text("aof_last_write_status") != "err" }
}
