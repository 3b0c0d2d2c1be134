import EventLoop
import RedisProtocol
package import StoreProtocol

/// Reads and writes active alerts and the stream of alerts.
extension FarmRedis {
    /// An active alert.
    package struct ActiveAlert: Equatable, Sendable {
        package var id: String
        package var level: Int
        /// When the alert fired, in Unix milliseconds.
        package var since: Int64
        package var text: String

        package init(id: String, level: Int, since: Int64, text: String) {
            (self.id, self.level, self.since, self.text) = (id, level, since, text)
        }
    }

    package func activeAlerts() async throws(RedisError) -> [ActiveAlert] {
        let fields = try await connection.call(RESPCommand("HGETALL", FarmKeys.activeAlerts)).fields
        return fields.compactMap { id, value in
            let parts = value.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, let level = Int(foreign: parts[0]), let since = Int64(foreign: parts[1])
            else { return nil }
            return ActiveAlert(id: id, level: level, since: since, text: String(parts[2]))
        }.sorted { $0.id < $1.id }
    }

    /// Records in Redis that an alert fires or clears.
    /// - Returns: false if Redis did not change: the alert already fires at this level or at a higher level, or
    ///   `isCleared` is true and the alert does not fire.
    package func write(
        _ alert: ActiveAlert, isCleared: Bool, sender: String
    ) async throws(RedisError) -> Bool {
        let words = [
            FarmKeys.activeAlerts, FarmKeys.alerts, isCleared ? "cleared" : "fired", alert.id,
            "\(alert.level)", "\(alert.since)", alert.text, sender,
        ]
        return try await run(.alert, keys: 2, words).integer == 1
    }

    /// Reads the fields of the latest entries of the alert stream, newest first.
    package func latestAlerts(count: Int) async throws(RedisError) -> [[String: String]] {
        let command = RESPCommand("XREVRANGE", FarmKeys.alerts, "+", "-", "COUNT", "\(count)")
        return (try await connection.call(command).array ?? []).map { $0.array?.last?.fields ?? [:] }
    }
}
