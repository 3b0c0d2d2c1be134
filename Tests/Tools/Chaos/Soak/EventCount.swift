import EventLoop
import RedisProtocol

/// Sums the counts in the events of finished jobs, as a producer does.
@Loop final class EventCount {
    private(set) var finished: Set<String> = []
    /// The number of repeated events of finished jobs.
    private(set) var repeated = 0
    private(set) var accepted = 0
    private(set) var delivered = 0
    /// The number of outcomes of all kinds.
    private(set) var outcomes = 0
    private var last = "0-0"

    nonisolated init() {}

    /// Fills the stream up to its limit, so that it stops growing, and counts later entries only.
    func fill(_ path: String) async throws {
        let redis = try await PlainRedis(path)
        let script = """
            local id
            for i = 1, 20000 do
                id = redis.call('XADD', KEYS[1], '*', 'type', 'filler', 'at', '1795273590569', 'job', 'j-' .. i,
                    'token', 'dead00006b0b22a2d4f709b61f5f08be7dd4c12f16fc80b8d26bd4197e95f57c')
            end
            return id
            """
        for _ in 0..<52 {
            let id = try await redis.call(
                ["EVAL", script, "1", "{pushfarm:demo}:events"], within: .seconds(60))
            last = id.text ?? last
        }
    }

    func read(_ path: String) async throws {
        let redis = try await PlainRedis(path)
        while true {
            let reply = try await redis.call(
                ["XREAD", "COUNT", "5000", "STREAMS", "{pushfarm:demo}:events", last], within: .seconds(10))
            let entries = reply.array?.first?.array?.last?.array ?? []
            guard let end = entries.last?.array?.first?.text else { return }
            for entry in entries { add(entry.array?.last?.fields ?? [:]) }
            last = end
        }
    }

    private func add(_ fields: [String: String]) {
        guard fields["type"] == "job.finished" else { return }
        func number(_ name: String) -> Int { fields[name].flatMap { Int($0) } ?? 0 }
        if !finished.insert(fields["job"] ?? "").inserted { repeated += 1 }
        accepted += number("accepted")
        delivered += number("delivered")
        outcomes += number("delivered") + number("failed") + number("expired") + number("cancelled")
    }
}
