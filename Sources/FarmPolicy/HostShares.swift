import PushModel

/// Which of the living hosts should own what of an app: rendezvous hashing, weighted by the hosts' workers.
///
/// For each shard, and for the intake, every worker of every host draws a ticket: a hash of all their names. The highest one
/// wins for its host. So a host's chance is its part of all workers, every host comes to the same result without asking,
/// and a worker more or fewer moves only what it wins or had won.
package struct HostShares: Hashable, Sendable {
    /// What is owned.
    package enum Place: Hashable, Sendable {
        case intake
        case shard(Int)
    }

    private let app: String
    private let entrants: [Entrant]

    private struct Entrant: Hashable, Sendable {
        let name: String
        let tickets: Int
    }

    /// More workers than this count as so many: it bounds the work of a draw.
    private static let mostTickets = 1024

    /// - Parameter hosts: names, each once, and capacities. Hosts without any take part only when none has any.
    package init(app: String, hosts: [(name: String, capacity: Int)]) {
        self.app = app
        let able = hosts.filter { $0.capacity > 0 }
        entrants = (able.isEmpty ? hosts : able).map {
            Entrant(name: $0.name, tickets: min(max($0.capacity, 1), Self.mostTickets))
        }
    }

    /// The host that should own `place`; nil without any host.
    package func owner(of place: Place) -> String? {
        guard entrants.count > 1 else { return entrants.first?.name }
        let drawn = entrants.map { (ticket: best(of: $0, for: place), name: $0.name) }
        // Equal tickets are as good as impossible; the name decides, so that nobody has to agree on an order.
        return drawn.max { $0 < $1 }?.name
    }

    private func best(of entrant: Entrant, for place: Place) -> UInt64 {
        var hash = XXH64(seed: 0)
        // Zeros stand between the parts: names hold none, so no two triples read the same.
        for part in [app, Self.name(of: place), entrant.name] {
            var part = part
            part.withUTF8 { hash.update(UnsafeRawBufferPointer($0)) }
            hash.update(0)
        }
        let base = hash.digest
        var best: UInt64 = 0
        for worker in 0..<UInt64(entrant.tickets) { best = max(best, Self.ticket(base, worker)) }
        return best
    }

    private static func name(of place: Place) -> String {
        switch place {
        case .intake: "intake"
        case .shard(let number): "\(number)"
        }
    }

    /// SplitMix64's output function: steps of an odd constant, well mixed.
    private static func ticket(_ base: UInt64, _ worker: UInt64) -> UInt64 {
        var word = base &+ (worker &+ 1) &* 0x9E37_79B9_7F4A_7C15
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
