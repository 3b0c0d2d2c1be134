import EventLoop
import RedisProtocol
package import StoreProtocol

/// Finds Redis lists with the names of inboxes, whether or not an app of that name is configured.
extension FarmRedis {
    /// The inboxes in one scanned part of Redis's keys.
    package struct InboxPage: Sendable {
        package let names: [String]
        /// The cursor for the next scan; "0" after the last part.
        package let next: String
    }

    private static let prefix = Array("pushfarm:".utf8)

    /// Scans some of Redis's keys for lists named `pushfarm:NAME`. In a Redis Cluster, only the keys of one node
    /// are scanned.
    /// - Parameter count: the approximate number of keys that Redis examines.
    package func inboxes(from cursor: String, count: Int) async throws(RedisError) -> InboxPage {
        let scan = RESPCommand("SCAN", cursor, "MATCH", "pushfarm:*", "TYPE", "list", "COUNT", "\(count)")
        let parts = try await connection.call(scan).array ?? []
        guard parts.count == 2, let next = parts[0].text else { return InboxPage(names: [], next: "0") }
        let names = (parts[1].array ?? []).compactMap { key -> String? in
            guard let bytes = key.bytes, bytes.starts(with: Self.prefix) else { return nil }
            let name = String(decoding: bytes.dropFirst(Self.prefix.count), as: UTF8.self)
            // Names that are not valid UTF-8 are left out, because the decoded name would belong to another key.
            return name.isEmpty || !name.utf8.elementsEqual(bytes.dropFirst(Self.prefix.count)) ? nil : name
        }
        return InboxPage(names: names, next: next)
    }

    /// The number of jobs in the inbox of that name; 0 if the key is missing or not a list.
    package func inboxLength(_ name: String) async throws(RedisError) -> Int {
        do throws(RedisError) {
            return Int(try await connection.call(RESPCommand("LLEN", "pushfarm:\(name)")).integer ?? 0)
        } catch {
            guard case .refused(let reply) = error, reply.code == "WRONGTYPE" else { throw error }
            return 0
        }
    }
}
