import RedisProtocol
import StoreProtocol

extension FarmRegistry {
    /// Refuses data in a format that this release does not read. An empty Redis is accepted.
    ///
    /// - Parameter apps: apps of the configuration; those that the farm knows are examined, too.
    /// - Throws: ``UnreadableFormat``, or a ``RedisError``.
    package func checkFormat(apps: [String]) async throws {
        let fields = try await connection.call(RESPCommand("HMGET", FarmKeys.farm, "shards", "format"))
        guard let fields = fields.array, fields.count == 2 else { return }
        let format = fields[1].text
        if let format, DataFormat.isReadable(format) { return }
        let all = Set(apps + (try await self.apps())).sorted()
        if format == nil, fields[0].isNull, try await !hasUnversionedKeys(all) { return }
        throw try await unreadableFormat(format, all)
    }

    /// Whether there is a key that releases without a format had for each configured app.
    private func hasUnversionedKeys(_ apps: [String]) async throws(RedisError) -> Bool {
        for app in apps {
            let answer = try await connection.call(RESPCommand("EXISTS", "{pushfarm:\(app)}:gate"))
            if answer.integer == 1 { return true }
        }
        return false
    }

    /// Counts what is open. These keys have the same names in all formats.
    private func unreadableFormat(_ format: String?, _ apps: [String]) async throws(RedisError)
        -> UnreadableFormat
    {
        var (pushes, jobs) = (0, 0)
        for app in apps {
            let keys = Keys(app: app)
            let open = try await connection.call(RESPCommand("HGET", key: keys.load, "open"))
            pushes = pushes.adding(saturating: max(0, open.text.flatMap { Int(foreign: $0) } ?? 0))
            for list in [keys.inbox, keys.taken] {
                let length = try await connection.call(RESPCommand("LLEN", key: list))
                jobs = jobs.adding(saturating: Int(length.integer ?? 0))
            }
        }
        return UnreadableFormat(format: format, openPushes: pushes, waitingJobs: jobs)
    }
}
