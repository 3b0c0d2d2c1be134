/// Shards that an operator has given a host: theirs as long as it lives and has workers.
package struct Pins: Hashable, Sendable {
    private var hosts: [String: [Int: String]] = [:]

    package init() {}

    /// From what operators want to last: `pin:APP:NN` to a host. Other names are left out.
    package init(_ wishes: [String: String]) {
        for (name, host) in wishes {
            let parts = name.split(separator: ":")
            guard parts.count == 3, parts[0] == "pin", let shard = Int(foreign: parts[2]) else { continue }
            hosts[String(parts[1]), default: [:]][shard] = host
        }
    }

    /// The hosts of an app's pinned shards.
    package func of(_ app: String) -> [Int: String] { hosts[app] ?? [:] }

    /// Under which a pin is stored.
    package static func name(app: String, shard: Int) -> String { "pin:\(app):\(shard)" }
}
