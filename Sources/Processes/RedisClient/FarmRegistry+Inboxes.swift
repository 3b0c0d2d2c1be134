import EventLoop
import RedisProtocol
package import StoreProtocol

/// Lists that look like inboxes, whether or not an app of that name is configured.
extension FarmRegistry {
    /// What one look at a part of Redis's keys has found.
    package struct InboxPage: Sendable {
        package let names: [String]
        /// Where the next look begins; "0" when all keys were looked at.
        package let next: String
    }

    private static let prefix = Array("pushfarm:".utf8)

    /// Looks at some of Redis's keys for lists `pushfarm:NAME`. In a Redis Cluster these are the keys of one node.
    /// - Parameter count: about so many keys are looked at, found or not.
    package func inboxes(from cursor: String, count: Int) async throws(RedisError) -> InboxPage {
        let scan = RESPCommand("SCAN", cursor, "MATCH", "pushfarm:*", "TYPE", "list", "COUNT", "\(count)")
        let parts = try await connection.call(scan).array ?? []
        guard parts.count == 2, let next = parts[0].text else { return InboxPage(names: [], next: "0") }
        let names = (parts[1].array ?? []).compactMap { key -> String? in
            guard let bytes = key.bytes, bytes.starts(with: Self.prefix) else { return nil }
            let name = String(decoding: bytes.dropFirst(Self.prefix.count), as: UTF8.self)
            // A name that is no UTF-8 would name another key.
            return name.isEmpty || !name.utf8.elementsEqual(bytes.dropFirst(Self.prefix.count)) ? nil : name
        }
        return InboxPage(names: names, next: next)
    }

    /// Jobs in the inbox of that name; 0 when there is none, or when it is no list.
    package func inboxLength(_ name: String) async throws(RedisError) -> Int {
        do throws(RedisError) {
            return Int(try await connection.call(RESPCommand("LLEN", "pushfarm:\(name)")).integer ?? 0)
        } catch {
            guard case .refused(let reply) = error, reply.code == "WRONGTYPE" else { throw error }
            return 0
        }
    }
}
