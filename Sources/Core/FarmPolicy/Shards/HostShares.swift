import PushModel

/// Divides an app's shards among the live hosts in proportion to their numbers of workers. The result is exact up to
/// one shard for each host.
///
/// For each shard, every worker of every host gets a ticket: a hash of the app's name, the shard, the host's name and
/// the worker's number. The tickets are handled from the highest to the lowest. If the shard of a ticket has no host
/// yet, and the host of the ticket has less than its share, the host gets the shard. All hosts compute the same result,
/// so they need not communicate. If a worker is added or removed, most shards stay with their hosts. For the intake,
/// every worker also gets a ticket, and the host with the highest ticket gets the intake.
package struct HostShares: Hashable, Sendable {
    /// The host that should own the app's intake; nil without hosts.
    package let intakeOwner: String?
    private let shards: [String]

    private struct Participant {
        let name: String
        let tickets: Int
    }

    /// The maximum number of tickets of a host for each shard. It limits the time of the calculation.
    private static let mostTickets = 1024

    /// - Parameters:
    ///   - hosts: the hosts, each with another name, and their capacities. Hosts with capacity 0 get shards only if all
    ///     hosts have capacity 0.
    ///   - shards: the number of shards.
    ///   - pins: the names of the hosts of pinned shards, by shard. A pin has no effect if its host cannot get shards.
    package init(
        app: String, hosts: [(name: String, capacity: Int)], shards: Int = 64, pins: [Int: String] = [:]
    ) {
        let able = hosts.filter { $0.capacity > 0 }
        let participants = (able.isEmpty ? hosts : able).map {
            Participant(name: $0.name, tickets: min(max($0.capacity, 1), Self.mostTickets))
        }
        guard participants.count > 1 else {
            intakeOwner = participants.first?.name
            self.shards = participants.first.map { Array(repeating: $0.name, count: shards) } ?? []
            return
        }
        intakeOwner = participants.max { Self.rank($0, "intake", app) < Self.rank($1, "intake", app) }?.name
        self.shards = Self.deal(app, participants, shards, pins)
    }

    /// Returns the host that should own a shard; nil without hosts.
    package func owner(ofShard number: Int) -> String? {
        shards.indices.contains(number) ? shards[number] : nil
    }

    private static func deal(
        _ app: String, _ participants: [Participant], _ shards: Int, _ pins: [Int: String]
    ) -> [String] {
        var remaining = parts(app, participants, of: shards)
        var owners: [Int?] = Array(repeating: nil, count: shards)
        for (shard, name) in pins where owners.indices.contains(shard) {
            guard let index = participants.firstIndex(where: { $0.name == name }) else { continue }
            owners[shard] = index
            remaining[index] -= 1
        }
        var draws: [(rank: Rank, shard: Int, index: Int)] = []
        draws.reserveCapacity(shards * participants.count)
        for shard in 0..<shards where owners[shard] == nil {
            for (index, participant) in participants.enumerated() {
                draws.append((rank(participant, "\(shard)", app), shard, index))
            }
        }
        draws.sort { $1.rank < $0.rank }
        for draw in draws where owners[draw.shard] == nil && remaining[draw.index] > 0 {
            owners[draw.shard] = draw.index
            remaining[draw.index] -= 1
        }
        return owners.map { participants[$0 ?? 0].name }
    }

    /// Returns the number of shards of each host. The exact share of a host is rounded down to whole shards. Each shard
    /// that remains goes to one of the hosts whose shares were rounded down most; between hosts with equal fractions,
    /// the higher ticket decides.
    private static func parts(_ app: String, _ participants: [Participant], of shards: Int) -> [Int] {
        let all = participants.reduce(0) { $0 + $1.tickets }
        var parts = participants.map { shards * $0.tickets / all }
        let lacking = participants.indices.sorted { one, other in
            let (first, second) = (
                shards * participants[one].tickets % all, shards * participants[other].tickets % all
            )
            if first != second { return first > second }
            return rank(participants[other], "rest", app) < rank(participants[one], "rest", app)
        }
        for index in lacking.prefix(shards - parts.reduce(0, +)) { parts[index] += 1 }
        return parts
    }

    /// A ticket and the host that has the ticket. The name decides between equal tickets, so that the order of hosts does not
    /// matter.
    private struct Rank: Comparable {
        let ticket: UInt64
        let name: String

        static func < (one: Rank, other: Rank) -> Bool {
            (one.ticket, one.name) < (other.ticket, other.name)
        }
    }

    private static func rank(_ participant: Participant, _ lease: String, _ app: String) -> Rank {
        var hash = XXH64(seed: 0)
        // Append a zero byte to each part. Names contain no zero bytes, so the hashed bytes differ whenever one of the
        // three parts differs.
        for part in [app, lease, participant.name] {
            var part = part
            part.withUTF8 { hash.update(UnsafeRawBufferPointer($0)) }
            hash.update(0)
        }
        let base = hash.digest
        var best: UInt64 = 0
        for worker in 0..<UInt64(participant.tickets) { best = max(best, ticket(base, worker)) }
        return Rank(ticket: best, name: participant.name)
    }

    /// Returns the ticket of a worker: output number `worker` of a SplitMix64 generator with the seed `base`.
    private static func ticket(_ base: UInt64, _ worker: UInt64) -> UInt64 {
        var word = base &+ (worker &+ 1) &* 0x9E37_79B9_7F4A_7C15
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
