package import RedisProtocol

/// The heartbeat that a coordinator writes for its host once a second.
package struct Heartbeat: Equatable, Sendable {
    package var host: String
    /// The unique name of the coordinator process.
    package var nonce: String
    /// The number of workers that the host can run.
    package var capacity: Int
    /// The names of the apps that the host serves.
    package var apps: [String]
    /// The host's status as JSON.
    package var status: [UInt8]

    package init(host: String, nonce: String, capacity: Int = 0, apps: [String] = [], status: [UInt8] = []) {
        (self.host, self.nonce, self.capacity) = (host, nonce, capacity)
        (self.apps, self.status) = (apps, status)
    }

    /// A live host of the farm.
    package struct Member: Equatable, Sendable {
        package let name: String
        package let nonce: String
        package let capacity: Int
        package let apps: [String]

        package init(name: String, nonce: String, capacity: Int, apps: [String]) {
            (self.name, self.nonce, self.capacity, self.apps) = (name, nonce, capacity, apps)
        }
    }

    package struct Reply: Equatable, Sendable {
        /// Redis's time in milliseconds.
        package let time: Int64
        /// How long the heartbeat of another live coordinator with this host name stays valid; nil if no such coordinator exists.
        /// If set, the call wrote no heartbeat.
        package let heldFor: Duration?
        package let members: [Member]

        package init(_ value: RESPValue) {
            let parts = value.array ?? []
            time = parts.first?.integer ?? 0
            let held = parts.count > 1 ? parts[1].integer ?? 0 : 0
            heldFor = held > 0 ? .milliseconds(held) : nil
            members = stride(from: 2, to: parts.count - 3, by: 4).map { index in
                Member(
                    name: parts[index].text ?? "", nonce: parts[index + 1].text ?? "",
                    capacity: Int(parts[index + 2].integer ?? 0),
                    apps: (parts[index + 3].text ?? "").split(separator: ",").map(String.init))
            }
        }
    }
}
