import BatchTesting
import RandomTesting
import Testing

@testable import Delivery

/// Plays ``RouteSimulation`` with seeds.
@Suite struct ShardRouteWalkTests {
    @Test(arguments: 0..<40 as Range<UInt64>)
    func `no push overtakes an earlier push to its device whatever the connections do`(seed: UInt64) throws {
        var game = try RouteSimulation(seed: seed)
        try game.run()
        #expect(game.wasSpread || seed % 4 == 0, "batches use several connections")
    }
}

/// A random sequence of sends, chosen by a seed. Batches of one shard and lane are sent over several connections.
/// A connection either finishes its oldest push or returns all its pushes unprocessed.
private struct RouteSimulation {
    struct Flying {
        let batch: HeldBatch
        let position: Int
        var device: UInt64 { batch.device(of: position) }
        var place: (UInt32, Int) { (batch.number, position) }
    }

    struct Overtaken: Error, CustomStringConvertible {
        let description: String
    }

    private var random: SplitMix
    private let route = ShardRoute()
    private var batches: [HeldBatch] = []
    private var made: UInt32 = 0
    private let names: [ObjectIdentifier] = [
        ObjectIdentifier(Flying.self), ObjectIdentifier(RouteSimulation.self),
        ObjectIdentifier(Overtaken.self),
    ]
    private var carried: [[Flying]] = [[], [], []]
    private(set) var wasSpread = false
    /// The number of devices. The smaller this number, the more batches have a device in common.
    private let devices: Int
    private static let window = 12

    init(seed: UInt64) throws {
        random = SplitMix(seed: seed)
        devices = [8, 100, 1_000, 60_000][Int(seed % 4)]
    }

    mutating func run() throws {
        for step in 0..<3_000 {
            if step < 2_000, batches.count < 6, random.int(in: 1...4) == 1 { try addBatch() }
            try send()
            connectionActs()
            for batch in batches where batch.isComplete { batch.removeFromRoute() }
            batches.removeAll { $0.isComplete }
        }
        guard batches.isEmpty else { throw Overtaken(description: "\(batches.count) batches never end") }
    }

    private mutating func addBatch() throws {
        made += 1
        let count = random.int(in: 1...20)
        let list = (0..<count).map { _ in random.int(in: 1...devices) }
        batches.append(try Batches.held(made, devices: list, on: route))
    }

    /// Sends the pushes of one turn like the sender does, and skips pushes that cannot be sent.
    private mutating func send() throws {
        for batch in batches {
            while batch.hasNext, let connection = choose(batch) {
                guard let position = batch.next() else { break }
                let push = Flying(batch: batch, position: position)
                try check(push, connection)
                carried[connection].append(push)
                route.sent(over: names[connection], by: batch)
                if carried.count(where: { $0.contains { $0.batch === batch } }) > 1 { wasSpread = true }
            }
        }
    }

    private mutating func choose(_ batch: HeldBatch) -> Int? {
        let open = carried.indices.filter { carried[$0].count < Self.window }
        switch route.connectionChoice(for: batch.number) {
        case .none: return nil
        case .any: return open.randomElement(using: &random)
        case .following(let name):
            let same = names.firstIndex(of: name) ?? 0
            if open.contains(same), random.int(in: 1...4) > 1 { return same }
            guard let other = open.randomElement(using: &random) else { return nil }
            if route.free(batch) { return other }
            guard !open.contains(same) else { return same }
            route.close()
            return nil
        }
    }

    private func check(_ push: Flying, _ connection: Int) throws {
        for (index, list) in carried.enumerated() {
            for other in list where other.device == push.device {
                guard index == connection, other.place < push.place else {
                    throw Overtaken(description: "\(push.place) meets \(other.place)")
                }
            }
        }
        for batch in batches where batch.number <= push.batch.number {
            for position in batch.positions.indices
            where (batch.number, position) < push.place && batch.positions[position] == .open
                && batch.device(of: position) == push.device
            {
                throw Overtaken(description: "\(push.place) goes before \((batch.number, position))")
            }
        }
    }

    private mutating func connectionActs() {
        let connection = random.int(in: 0...2)
        if random.int(in: 1...5) == 1 {
            for push in carried[connection] { push.batch.reopen(push.position) }
            carried[connection] = []
        } else {
            let count = random.int(in: 0...carried[connection].count)
            for push in carried[connection].prefix(count) {
                push.batch.delivered(push.position)
                // Redis has accepted the report.
                push.batch.markReported(push.position)
            }
            carried[connection].removeFirst(count)
        }
    }
}
