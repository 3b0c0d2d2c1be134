/// The hosts that one host regards as live, and the time at which this list last changed.
package struct Membership: Sendable {
    /// The properties of a host that decide how many and which shards the host gets.
    package struct Host: Hashable, Sendable {
        package let name: String
        /// The number of workers that the host can run.
        package let capacity: Int
        package let apps: Set<String>

        package init(name: String, capacity: Int, apps: Set<String>) {
            (self.name, self.capacity, self.apps) = (name, capacity, apps)
        }
    }

    /// The hosts that an observation added to the list of live hosts, and the hosts that it removed.
    package struct Change: Equatable, Sendable {
        package var come: [String]
        package var gone: [String]

        package init(come: [String], gone: [String]) { (self.come, self.gone) = (come, gone) }
    }

    /// The live hosts, sorted by name.
    package private(set) var hosts: [Host] = []
    /// The shards that operators have pinned to hosts.
    package var pins = Pins()
    private let shards: Int
    private var since: Instant
    private var missing: [String: Instant] = [:]

    /// Shards move between live hosts only after the list of live hosts has not changed for this time.
    package static let settleTime = Duration.seconds(10)
    /// A host counts as gone if it has not been seen for this time, or at once if it has announced its exit. This time
    /// starts with the first observation without the host, so after a Redis outage the hosts have time to be seen
    /// again.
    package static let gracePeriod = Duration.seconds(3)

    package init(shards: Int = 64, now: Instant) { (self.shards, since) = (shards, now) }

    /// - Returns: the changes; nil when nothing changed.
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

    /// Notes that a host announced its exit. If the next observation does not contain the host, the host counts as gone
    /// at once, without the grace period.
    package mutating func announcedExit(of name: String, at now: Instant) {
        // Names of unknown hosts are ignored, so that the table stays small.
        guard hosts.contains(where: { $0.name == name }) else { return }
        missing[name] = now.advanced(by: .zero - Self.gracePeriod)
    }

    package func isStable(at now: Instant) -> Bool { since.duration(to: now) >= Self.settleTime }

    /// Returns how an app's shards are divided among the hosts that have the app.
    package func shares(of app: String) -> HostShares {
        HostShares(
            app: app,
            hosts: hosts.filter { $0.apps.contains(app) }.map { (name: $0.name, capacity: $0.capacity) },
            shards: shards, pins: pins.of(app))
    }
}

/// The shards that operators have pinned to hosts. A pin has an effect only while its host is live and has workers.
package struct Pins: Hashable, Sendable {
    private var hosts: [String: [Int: String]] = [:]

    package init() {}

    /// Reads the pins from the desired state, where an entry has the name `pin:APP:NN` and a host as its value. Entries
    /// with names of another form are ignored.
    package init(_ desired: [String: String]) {
        for (name, host) in desired {
            let parts = name.split(separator: ":")
            guard parts.count == 3, parts[0] == "pin", let shard = Int(foreign: parts[2]) else { continue }
            hosts[String(parts[1]), default: [:]][shard] = host
        }
    }

    /// Returns the pinned shards of an app and their hosts.
    package func of(_ app: String) -> [Int: String] { hosts[app] ?? [:] }

    /// Returns the name under which a pin is stored.
    package static func name(app: String, shard: Int) -> String { "pin:\(app):\(shard)" }
}
