import EventLoop
import RedisProtocol
package import StoreProtocol

/// The farm's books of its alerts.
extension FarmRegistry {
    /// One that is raised.
    package struct RaisedAlert: Equatable, Sendable {
        package var id: String
        package var level: Int
        /// Unix milliseconds.
        package var since: Int64
        package var text: String

        package init(id: String, level: Int, since: Int64, text: String) {
            (self.id, self.level, self.since, self.text) = (id, level, since, text)
        }
    }

    package func raisedAlerts() async throws(RedisError) -> [RaisedAlert] {
        let fields = try await connection.call(RESPCommand("HGETALL", FarmKeys.activeAlerts)).fields
        return fields.compactMap { id, value in
            let parts = value.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, let level = Int(foreign: parts[0]), let since = Int64(foreign: parts[1])
            else { return nil }
            return RaisedAlert(id: id, level: level, since: since, text: String(parts[2]))
        }.sorted { $0.id < $1.id }
    }

    /// - Returns: false when that was so already, at that level or a worse one.
    package func raise(_ alert: RaisedAlert, sender: String) async throws(RedisError) -> Bool {
        try await write("fired", alert, sender)
    }

    /// - Returns: false when it was not raised.
    package func callOff(_ alert: RaisedAlert, sender: String) async throws(RedisError) -> Bool {
        try await write("cleared", alert, sender)
    }

    private func write(
        _ verb: String, _ alert: RaisedAlert, _ sender: String
    ) async throws(RedisError) -> Bool {
        let words = [
            FarmKeys.activeAlerts, FarmKeys.alerts, verb, alert.id, "\(alert.level)", "\(alert.since)",
            alert.text,
            sender,
        ]
        return try await run(.alert, keys: 2, words.map { Array($0.utf8) }).integer == 1
    }

    /// What was told last, the newest first, each with its fields.
    package func latestAlerts(count: Int) async throws(RedisError) -> [[String: String]] {
        let command = RESPCommand("XREVRANGE", FarmKeys.alerts, "+", "-", "COUNT", "\(count)")
        return (try await connection.call(command).array ?? []).map { $0.array?.last?.fields ?? [:] }
    }
}
