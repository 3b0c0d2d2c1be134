import FarmPolicy
import Testing

struct HostSharesTests {
    typealias Hosts = [(name: String, capacity: Int)]

    private static let shards = 64
    private static let apps = (0..<200).map { "app-\($0)" }

    /// Who owns each shard of many apps.
    private static func owners(_ hosts: Hosts) -> [String] {
        apps.flatMap { app in
            let shares = HostShares(app: app, hosts: hosts)
            return (0..<shards).compactMap { shares.owner(of: .shard($0)) }
        }
    }

    private static func counts(_ hosts: Hosts) -> [String: Int] {
        owners(hosts).reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    @Test(arguments: [
        [1, 1], [2, 2], [1, 3], [4, 4, 4], [2, 4, 8], [1, 1, 1, 1, 1], [16, 1], [7, 5, 3, 2],
    ])
    func `shares are as the hosts' workers`(capacities: [Int]) {
        let hosts = capacities.enumerated().map { (name: "host-\($0.offset)", capacity: $0.element) }
        let counts = Self.counts(hosts)
        let total = Double(Self.shards * Self.apps.count)
        #expect(counts.values.reduce(0, +) == Int(total))
        for host in hosts {
            let part = Double(host.capacity) / Double(capacities.reduce(0, +))
            // Five standard deviations of a fair draw.
            let bound = 5 * (total * part * (1 - part)).squareRoot()
            #expect(abs(Double(counts[host.name] ?? 0) - total * part) <= bound, "\(host): \(counts)")
        }
    }

    @Test func `one app's shards are spread, and not as another's`() {
        let hosts: Hosts = [("a", 2), ("b", 2), ("c", 2)]
        let maps = ["one", "two"].map { app in
            (0..<Self.shards).map { HostShares(app: app, hosts: hosts).owner(of: .shard($0)) }
        }
        #expect(maps[0] != maps[1])
        for map in maps {
            for host in hosts { #expect(map.count { $0 == host.name } >= 8) }
        }
        let intakes = Self.apps.map { HostShares(app: $0, hosts: hosts).owner(of: .intake) }
        for host in hosts { #expect((40...100).contains(intakes.count { $0 == host.name })) }
    }

    @Test(arguments: 1...6) func `a host that joins takes only what becomes its own`(count: Int) {
        let hosts: Hosts = (0..<count).map { ("host-\($0)", $0 % 3 + 1) }
        let before = Self.owners(hosts)
        let after = Self.owners(hosts + [("new", 2)])
        let moved = zip(before, after).filter { $0 != $1 }
        #expect(!moved.isEmpty && moved.allSatisfy { $0.1 == "new" })
        // Leaving is the same backwards: nothing moves between those who stay.
        #expect(Self.owners(([("new", 2)] + hosts).filter { $0.name != "new" }) == before)
    }

    @Test func `a worker more moves shards only to its host`() {
        let before = Self.owners([("a", 2), ("b", 3), ("c", 4)])
        let after = Self.owners([("a", 2), ("b", 4), ("c", 4)])
        let moved = zip(before, after).filter { $0 != $1 }
        #expect(moved.allSatisfy { $0.1 == "b" })
        // From 3 in 9 to 4 in 10.
        let expected = Double(before.count) * (0.4 - 1.0 / 3)
        #expect(abs(Double(moved.count) - expected) < expected / 2)
    }

    @Test func `the order in which hosts are named does not matter`() {
        let hosts: Hosts = [("a", 2), ("b", 3), ("c", 4)]
        #expect(Self.owners(hosts) == Self.owners(hosts.reversed()))
    }

    @Test func `a host without workers owns nothing while another has some`() {
        #expect(Self.counts([("a", 0), ("b", 1)]) == ["b": Self.shards * Self.apps.count])
        #expect(Self.counts([("a", 0), ("b", 0)]).count == 2)
        #expect(HostShares(app: "x", hosts: []).owner(of: .intake) == nil)
        #expect(HostShares(app: "x", hosts: [("a", 0)]).owner(of: .shard(3)) == "a")
    }

    @Test func `all hosts of a farm, of whatever version, agree`() {
        let shares = HostShares(app: "demo", hosts: [("alpha", 2), ("beta", 2)])
        let map = (0..<16).map { shares.owner(of: .shard($0)) == "alpha" ? "a" : "b" }.joined()
        #expect(map == "bbbaaaabbbbbbaaa")
    }
}
