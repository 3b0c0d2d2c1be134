import FarmPolicy
import Testing

struct HostSharesTests {
    typealias Hosts = [(name: String, capacity: Int)]

    private static let shards = 64
    private static let apps = (0..<200).map { "app-\($0)" }

    /// The owner of each shard of many apps.
    private static func owners(_ hosts: Hosts) -> [String] {
        apps.flatMap { app in
            let shares = HostShares(app: app, hosts: hosts)
            return (0..<shards).compactMap { shares.owner(ofShard: $0) }
        }
    }

    private static func counts(_ hosts: Hosts) -> [String: Int] {
        owners(hosts).reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    @Test(arguments: [
        [1, 1], [2, 2], [1, 3], [4, 4, 4], [2, 4, 8], [1, 1, 1, 1, 1], [16, 1], [7, 5, 3, 2],
    ])
    func `shares follow the number of workers of each host`(capacities: [Int]) {
        let hosts = capacities.enumerated().map { (name: "host-\($0.offset)", capacity: $0.element) }
        let counts = Self.counts(hosts)
        let total = Double(Self.shards * Self.apps.count)
        #expect(counts.values.reduce(0, +) == Int(total))
        for host in hosts {
            let part = Double(host.capacity) / Double(capacities.reduce(0, +))
            #expect(
                abs(Double(counts[host.name] ?? 0) - total * part) <= Double(Self.apps.count), "\(counts)")
            // Each host's share of an app differs from the exact share by less than one shard.
            for app in Self.apps.prefix(20) {
                let shares = HostShares(app: app, hosts: hosts)
                let its = (0..<Self.shards).count { shares.owner(ofShard: $0) == host.name }
                #expect(abs(Double(its) - Double(Self.shards) * part) < 1, "\(app): \(its)")
            }
        }
    }

    @Test func `the shards of one app are spread differently from another app`() {
        let hosts: Hosts = [("a", 2), ("b", 2), ("c", 2)]
        let maps = ["one", "two"].map { app in
            (0..<Self.shards).map { HostShares(app: app, hosts: hosts).owner(ofShard: $0) }
        }
        #expect(maps[0] != maps[1])
        for map in maps {
            for host in hosts { #expect((21...22).contains(map.count { $0 == host.name })) }
        }
        let intakes = Self.apps.map { HostShares(app: $0, hosts: hosts).intakeOwner }
        for host in hosts { #expect((40...100).contains(intakes.count { $0 == host.name })) }
    }

    /// The number of shards whose owner changes, divided by the number of all shards.
    private static func moved(_ before: Hosts, _ after: Hosts) -> Double {
        let pairs = zip(owners(before), owners(after))
        return Double(pairs.count { $0 != $1 }) / Double(shards * apps.count)
    }

    @Test(arguments: 1...6) func `a host that joins or leaves moves little more than its own share`(
        count: Int
    ) {
        let hosts: Hosts = (0..<count).map { ("host-\($0)", $0 % 3 + 1) }
        let all = Double(hosts.reduce(0) { $0 + $1.capacity } + 2)
        let moved = Self.moved(hosts, hosts + [("new", 2)])
        #expect(moved >= 2 / all - 0.02 && moved <= 1.35 * 2 / all + 0.02, "\(moved) of \(2 / all)")
        // When a host leaves, the shards go back to the owners that they had before the host joined.
        #expect(Self.owners(([("new", 2)] + hosts).filter { $0.name != "new" }) == Self.owners(hosts))
    }

    @Test func `one more worker moves little more than its host gains`() {
        let moved = Self.moved([("a", 2), ("b", 3), ("c", 4)], [("a", 2), ("b", 4), ("c", 4)])
        // The share of host "b" grows from 3 of 9 workers to 4 of 10 workers.
        let least = 0.4 - 1.0 / 3
        #expect(moved >= least - 0.02 && moved <= 2 * least, "\(moved)")
    }

    @Test func `a pinned shard belongs to its host while the host takes part`() {
        let hosts: Hosts = [("a", 2), ("b", 2)]
        let usual = HostShares(app: "x", hosts: hosts)
        let shard = (0..<64).first { usual.owner(ofShard: $0) == "a" } ?? 0
        let pinned = HostShares(app: "x", hosts: hosts, pins: [shard: "b"])
        #expect(pinned.owner(ofShard: shard) == "b")
        #expect((0..<64).count { pinned.owner(ofShard: $0) == "b" } == 32)
        let others = (0..<64).count { pinned.owner(ofShard: $0) != usual.owner(ofShard: $0) }
        #expect(others <= 2)
        #expect(HostShares(app: "x", hosts: hosts, pins: [shard: "c"]) == usual)
        // Invalid pins in Redis are ignored.
        #expect(HostShares(app: "x", hosts: hosts, pins: [-1: "b", 64: "b"]) == usual)
        let all = Dictionary(uniqueKeysWithValues: (0..<64).map { ($0, "b") })
        #expect(
            (0..<64).allSatisfy { HostShares(app: "x", hosts: hosts, pins: all).owner(ofShard: $0) == "b" }
        )
    }

    @Test func `the order of the hosts does not matter`() {
        let hosts: Hosts = [("a", 2), ("b", 3), ("c", 4)]
        #expect(Self.owners(hosts) == Self.owners(hosts.reversed()))
    }

    @Test func `a host without workers owns nothing while another host has some`() {
        #expect(Self.counts([("a", 0), ("b", 1)]) == ["b": Self.shards * Self.apps.count])
        #expect(Self.counts([("a", 0), ("b", 0)]).count == 2)
        #expect(HostShares(app: "x", hosts: []).intakeOwner == nil)
        #expect(HostShares(app: "x", hosts: [("a", 0)]).owner(ofShard: 3) == "a")
    }

    @Test func `hosts of all versions compute the same shares`() {
        let shares = HostShares(app: "demo", hosts: [("alpha", 2), ("beta", 2)])
        let map = (0..<16).map { shares.owner(ofShard: $0) == "alpha" ? "a" : "b" }.joined()
        #expect(map == "bbbabaabbbbbbaaa")
    }
}
