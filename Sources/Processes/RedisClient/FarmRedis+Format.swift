import RedisProtocol
import StoreProtocol

/// The format of a farm's data: the field `format` of ``FarmKeys/farm``, written by the farm's first coordinator.
///
/// Each release also reads the format of the previous release, because both releases run at the same time during an
/// upgrade.
enum DataFormat {
    /// The format that this release writes.
    static let current = 1
    /// The formats that this release reads.
    static let readable = 1...current

    static func isReadable(_ text: String) -> Bool {
        Int(foreign: text).map { readable.contains($0) } ?? false
    }
}

/// Redis holds data in a format that this release does not read.
package struct UnreadableFormat: Error, Equatable, CustomStringConvertible {
    /// The format that was found; nil if the data is from a release that wrote no format.
    package let format: String?
    package let openPushes: Int
    /// The number of jobs that are in inboxes, or are taken and not completely split.
    package let waitingJobs: Int

    package var description: String {
        let found =
            format.map { "has format \(Self.plain($0))" } ?? "has no format: an older release wrote it"
        let readable = DataFormat.readable
        let known =
            readable.count == 1
            ? "\(readable.upperBound)" : "\(readable.lowerBound) to \(readable.upperBound)"
        let pushes = openPushes == 1 ? "1 open push" : "\(openPushes) open pushes"
        let jobs = waitingJobs == 1 ? "1 job that is not split" : "\(waitingJobs) jobs that are not split"
        return
            "the farm's data \(found), and this release reads format \(known). Found \(pushes) and \(jobs). "
            + "Let the release that wrote the data finish the open pushes, then delete the data; "
            + "see \"Format of the data\" in docs/redis.md"
    }

    /// Keeps only the ASCII letters and digits of the field, because the text in Redis may come from another program.
    private static func plain(_ text: String) -> String {
        "\"" + text.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }.prefix(20) + "\""
    }
}

extension FarmRedis {
    /// Refuses data in a format that this release does not read. An empty Redis is accepted.
    ///
    /// - Parameter apps: the apps of the configuration. The keys of these apps are checked, and the keys of all apps
    ///   that the farm knows.
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

    /// Whether Redis has a key of one of these apps that was written by a release without a format.
    private func hasUnversionedKeys(_ apps: [String]) async throws(RedisError) -> Bool {
        for app in apps {
            let reply = try await connection.call(RESPCommand("EXISTS", "{pushfarm:\(app)}:gate"))
            if reply.integer == 1 { return true }
        }
        return false
    }

    /// Creates the error, which contains the numbers of open pushes and of waiting jobs. The keys of pushes and jobs
    /// have the same names in all formats.
    private func unreadableFormat(_ format: String?, _ apps: [String]) async throws(RedisError)
        -> UnreadableFormat
    {
        var (pushes, jobs) = (0, 0)
        for app in apps {
            let keys = Keys(app: app)
            let open = try await connection.call(RESPCommand("HGET", key: keys.load, "open"))
            pushes = pushes.adding(saturating: max(0, open.text.flatMap { Int(foreign: $0) } ?? 0))
            for list in [keys.inbox, keys.taken, keys.lookups] {
                let length = try await connection.call(RESPCommand("LLEN", key: list))
                jobs = jobs.adding(saturating: Int(length.integer ?? 0))
            }
        }
        return UnreadableFormat(format: format, openPushes: pushes, waitingJobs: jobs)
    }
}
