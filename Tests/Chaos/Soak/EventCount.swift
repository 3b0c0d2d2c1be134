import EventLoop
import RESP

/// Adds up what the events stream says of finished jobs, as a producer that reads along.
@Loop final class EventCount {
    private(set) var finished = 0
    private(set) var accepted = 0
    private(set) var delivered = 0
    /// Of any kind.
    private(set) var outcomes = 0
    private var last = "0-0"

    nonisolated init() {}

    func read(_ path: String) async throws {
        let redis = try await PlainRedis(path)
        while true {
            let answer = try await redis.call(
                ["XREAD", "COUNT", "5000", "STREAMS", "{pushfarm:demo}:events", last], within: .seconds(10))
            let entries = answer.array?.first?.array?.last?.array ?? []
            guard let end = entries.last?.array?.first?.text else { return }
            for entry in entries { add(entry.array?.last?.fields ?? [:]) }
            last = end
        }
    }

    private func add(_ fields: [String: String]) {
        guard fields["type"] == "job.finished" else { return }
        func number(_ name: String) -> Int { fields[name].flatMap { Int($0) } ?? 0 }
        finished += 1
        accepted += number("accepted")
        delivered += number("delivered")
        outcomes += number("delivered") + number("failed") + number("expired") + number("cancelled")
    }
}
