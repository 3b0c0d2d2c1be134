/// The hosts that live, as one of them sees it, and since when nothing has changed among them.
package struct Membership: Sendable {
    /// What counts of a host: what decides its shares.
    package struct Host: Hashable, Sendable {
        package let name: String
        /// Workers that it can run.
        package let capacity: Int
        package let apps: Set<String>

        package init(name: String, capacity: Int, apps: Set<String>) {
            (self.name, self.capacity, self.apps) = (name, capacity, apps)
        }
    }

    /// The result of a reading.
    package struct Change: Equatable, Sendable {
        package var come: [String]
        package var gone: [String]

        package init(come: [String], gone: [String]) { (self.come, self.gone) = (come, gone) }
    }

    /// By name.
    package private(set) var hosts: [Host] = []
    /// What operators have given to hosts.
    package var pins = Pins()
    private let shards: Int
    private var since: Instant
    private var missing: [String: Instant] = [:]

    /// Shards move between live hosts only when the set of hosts has not changed for so long.
    package static let calm = Duration.seconds(10)
    /// A host has left when it said so, or was not seen for so long: after an outage of Redis, or a jump of its clock, all hosts come back.
    package static let gracePeriod = Duration.seconds(3)

    package init(shards: Int = 64, now: Instant) { (self.shards, since) = (shards, now) }

    /// - Returns: nil when all is as before.
    package mutating func observe(_ seen: [Host], at now: Instant) -> Change? {
        let present = Set(seen.map(\.name))
        missing = missing.filter { !present.contains($0.key) }
        var next = seen
        for host in hosts where !present.contains(host.name) {
            let start = missing[host.name] ?? now
            missing[host.name] = start
            if start.duration(to: now) < Self.gracePeriod {
                next.append(host)
            } else {
                missing[host.name] = nil
            }
        }
        next.sort { $0.name < $1.name }
        guard next != hosts else { return nil }
        let before = Set(hosts.map(\.name))
        let after = Set(next.map(\.name))
        hosts = next
        since = now
        return Change(come: after.subtracting(before).sorted(), gone: before.subtracting(after).sorted())
    }

    /// A host announced that it leaves: it is not waited for, unless it is still seen.
    package mutating func left(_ name: String, at now: Instant) {
        // Any number of names can be said to have left; only hosts are noted.
        guard hosts.contains(where: { $0.name == name }) else { return }
        missing[name] = now.advanced(by: .zero - Self.gracePeriod)
    }

    package func isSettled(at now: Instant) -> Bool { since.duration(to: now) >= Self.calm }

    /// Who should own what of an app: only hosts that have it take part.
    package func shares(of app: String) -> HostShares {
        HostShares(
            app: app,
            hosts: hosts.filter { $0.apps.contains(app) }.map { (name: $0.name, capacity: $0.capacity) },
            shards: shards, pins: pins.of(app))
    }
}

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
