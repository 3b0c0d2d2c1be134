import BatchTesting
import RandomTesting
import Testing

@testable import Delivery

/// Pushes of a shard use one connection, which keeps their order.
/// A batch that shares no device with the other batches may use other connections.
@Suite struct ShardRouteTests {
    private final class Connection {}
    private let first = ObjectIdentifier(Connection.self)
    private let second = ObjectIdentifier(ShardRoute.self)
    private let route = ShardRoute()

    /// A held batch with `inFlight` pushes in flight over the first connection.
    private func batch(_ number: UInt32, _ devices: [Int], inFlight: Int = 0) throws -> HeldBatch {
        let batch = try Batches.held(number, devices: devices, on: route)
        for _ in 0..<inFlight { _ = batch.next() }
        if inFlight > 0 { route.sent(over: first, by: batch) }
        return batch
    }

    private func land(_ batch: HeldBatch, _ positions: Range<Int>) {
        for position in positions { batch.delivered(position) }
    }

    @Test func `with nothing in flight any connection is allowed`() throws {
        let one = try batch(1, [1, 2, 3])
        #expect(route.connectionChoice(for: 1) == .any)
        _ = one.next()
        route.sent(over: first, by: one)
        land(one, 0..<1)
        #expect(route.connectionChoice(for: 1) == .any)
    }

    @Test func `pushes use the connection of the pushes in flight in any batch`() throws {
        let (one, two) = (try batch(1, [1, 2, 3], inFlight: 3), try batch(2, [1]))
        for number: UInt32 in [1, 2] { #expect(route.connectionChoice(for: number) == .following(first)) }
        land(one, 0..<2)
        #expect(route.connectionChoice(for: two.number) == .following(first))
    }

    @Test func `no push uses an abandoned connection until all pushes in flight have an outcome`() throws {
        let (one, two) = (try batch(1, [1, 2, 3], inFlight: 3), try batch(2, [1]))
        route.closeConnection()
        #expect(route.connectionChoice(for: 1) == .none && route.connectionChoice(for: two.number) == .none)
        land(one, 0..<2)
        #expect(route.connectionChoice(for: 2) == .none)
        land(one, 2..<3)
        route.closeConnection()
        #expect(route.connectionChoice(for: 2) == .any)
    }

    @Test func `a batch that shares no device with another held batch may use any connection`() throws {
        let (one, two) = (try batch(1, [1, 2, 3], inFlight: 2), try batch(2, [4, 5], inFlight: 1))
        #expect(route.connectionChoice(for: 2) == .following(first))
        #expect(route.free(two) && route.free(two))
        #expect(route.connectionChoice(for: 2) == .any && route.connectionChoice(for: 1) == .following(first))
        // Batch 2 may use any connection, so its pushes in flight do not restrict batch 1.
        land(one, 0..<2)
        #expect(route.connectionChoice(for: 1) == .any)
        _ = two.next()
        route.sent(over: second, by: two)
        #expect(route.connectionChoice(for: 1) == .any)
        land(two, 0..<2)
        #expect(route.connectionChoice(for: 1) == .any)
    }

    @Test func `a batch that shares a device or repeats a device is not free`() throws {
        let (one, two) = (try batch(1, [1, 2, 3], inFlight: 1), try batch(2, [3, 4]))
        #expect(!route.free(two) && !route.free(one))
        #expect(try !route.free(batch(3, [7, 8, 7])))
        // Batch 1 is done, so it no longer blocks batch 2.
        land(one, 0..<1)
        one.removeFromRoute()
        #expect(route.free(two))
    }

    @Test func `a later batch waits until a free batch with a shared device is done`() throws {
        let one = try batch(1, [1, 2], inFlight: 1)
        #expect(route.free(one))
        let (two, three) = (try batch(2, [2, 3]), try batch(3, [4]))
        #expect(route.connectionChoice(for: 2) == .none && !route.free(two))
        #expect(route.connectionChoice(for: 3) == .any)
        land(one, 0..<1)
        #expect(route.connectionChoice(for: 2) == .none, "the push to the shared device has not even left")
        _ = one.next()
        #expect(route.connectionChoice(for: 2) == .none)
        land(one, 1..<2)
        #expect(route.connectionChoice(for: 2) == .any)
        #expect(route.free(three))
        one.removeFromRoute()
        #expect(route.connectionChoice(for: 2) == .any && route.batches == 2)
    }

    @Test func `younger batches wait for a batch whose state Redis is asked for`() throws {
        let first = try Batches.held([.init(job: "j", count: 3)])
        let route = first.route
        first.mustCompare = true
        #expect(
            route.connectionChoice(for: first.number) == .any
                && route.connectionChoice(for: first.number + 1) == .none)
        first.mustCompare = false
        #expect(route.connectionChoice(for: first.number + 1) == .any)
        first.mustCompare = true
        first.end()
        #expect(route.connectionChoice(for: first.number + 1) == .any, "no connection is reserved any more")
    }

    @Test func `a batch detects a repeated device`() throws {
        let job = Batches.Part(job: "j", count: 3)
        #expect(try Batches.held([job]).isOfDistinctDevices)
        var other = Batches.Part(job: "k", count: 2)
        #expect(try Batches.held([job, other]).isOfDistinctDevices)
        other.repeatsTokens = true
        #expect(try !Batches.held([job, other]).isOfDistinctDevices)
    }

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
    /// The number of devices. Many batches share few devices.
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
            route.closeConnection()
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
