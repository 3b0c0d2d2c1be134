import FarmStore
import PushModel
import Testing

@testable import Worker

/// Pushes of a shard follow each other over one connection, or one batch has several for itself.
@Suite struct ShardRouteTests {
    private final class Connection {}
    private let first = Connection()
    private let second = Connection()

    private func id(_ connection: Connection) -> ObjectIdentifier { ObjectIdentifier(connection) }

    /// - Parameter batches: in hand, with so many pushes of each in the air over the first connection.
    private func route(_ batches: Int, inAir: Int) -> ShardRoute {
        let route = ShardRoute()
        route.batches = batches
        route.inAir = inAir
        route.left(over: id(first), by: 1)
        return route
    }

    @Test func `with nothing in the air any connection will do`() {
        #expect(route(2, inAir: 0).way(of: 1) == .any)
        let landed = route(2, inAir: 5)
        landed.inAir -= 5
        #expect(landed.way(of: 2) == .any)
    }

    @Test func `pushes follow those in the air, of whichever batch`() {
        let route = route(2, inAir: 5)
        for batch: UInt32 in [1, 2] {
            #expect(route.way(of: batch) == .following(id(first), isOnlyBatch: false))
        }
        route.inAir -= 4
        #expect(route.way(of: 2) == .following(id(first), isOnlyBatch: false))
    }

    @Test func `nothing follows over a connection that was left, until all has landed`() {
        let route = route(2, inAir: 5)
        route.leave()
        #expect(route.way(of: 1) == .none && route.way(of: 2) == .none)
        route.inAir -= 4
        #expect(route.way(of: 2) == .none)
        route.inAir -= 1
        route.leave()
        #expect(route.way(of: 2) == .any)
    }

    @Test func `the only batch in hand may use several, and others wait for all of it`() {
        let route = route(1, inAir: 5)
        #expect(route.way(of: 1) == .following(id(first), isOnlyBatch: true))
        route.inAir += 3
        route.left(over: id(second), by: 1)
        route.batches += 1
        #expect(route.way(of: 1) == .any && route.way(of: 2) == .none)
        route.inAir -= 7
        #expect(route.way(of: 2) == .none)
        route.inAir -= 1
        #expect(route.way(of: 2) == .any)
        route.inAir += 1
        route.left(over: id(second), by: 2)
        #expect(route.way(of: 2) == .following(id(second), isOnlyBatch: false))
    }

    @Test func `what is younger waits for a batch of which Redis is asked what it knows`() throws {
        let first = try Batches.held([.init(job: "j", count: 3)])
        let route = first.route
        first.isDoubted = true
        #expect(route.way(of: first.number) == .any && route.way(of: first.number + 1) == .none)
        first.isDoubted = false
        #expect(route.way(of: first.number + 1) == .any)
        first.isDoubted = true
        first.end()
        #expect(route.way(of: first.number + 1) == .any, "it is nobody's any more")
    }

    @Test func `a batch knows whether it has a device twice`() throws {
        let job = Batches.Part(job: "j", count: 3)
        #expect(try Batches.held([job]).isOfDistinctDevices)
        var other = Batches.Part(job: "k", count: 2)
        #expect(try Batches.held([job, other]).isOfDistinctDevices)
        other.repeatsTokens = true
        #expect(try !Batches.held([job, other]).isOfDistinctDevices)
    }

    /// A batch of pushes to the devices of these numbers, on a route that it may share with others.
    private func batch(_ number: UInt32, _ first: Int, _ count: Int, on route: ShardRoute) throws -> HeldBatch
    {
        let batch = try Batch(decoding: Batches.body([.init(count: count)], from: first))
        return HeldBatch(
            number: number, id: BatchID(Array("03.h.\(number)".utf8)), shard: 3, lane: .high, delivery: 1,
            granted: count, caution: nil, map: Array(repeating: UInt8(ascii: "."), count: count),
            batch: batch,
            route: route)
    }

    @Test func `what is in the air for long holds up only what is for the same devices`() throws {
        let route = ShardRoute()
        let now = ContinuousClock.now
        let old = try batch(1, 0, 10, on: route)
        let other = try batch(2, 100, 10, on: route)
        let same = try batch(3, 5, 10, on: route)
        let behind = try batch(4, 200, 10, on: route)
        old.sendAll()
        route.left(over: id(first), by: 1)
        for position in 0..<8 { old.delivered(position) }
        route.leave()
        #expect([old, other, same, behind].allSatisfy { $0.way == .none })
        // Two are left in the air, to the devices 8 and 9.
        #expect(!route.isStuck(at: now) && !route.isStuck(at: now + .milliseconds(249)))
        #expect(route.isStuck(at: now + .milliseconds(250)))
        old.setAside()
        #expect(route.inAir == 0 && old.inAir == 2)
        #expect(other.way == .any && same.way == .none, "the third has pushes to both")
        #expect(behind.way == .none, "nothing younger passes the third")
        other.sendAll()
        route.left(over: id(second), by: 2)
        #expect(same.way == .none && other.way == .following(id(second), isOnlyBatch: false))
        old.delivered(8)
        #expect(same.way == .none)
        old.giveBack(9)
        #expect(route.inAir == 10 && old.inAir == 0)
        #expect(same.way == .following(id(second), isOnlyBatch: false))
        #expect(behind.way == .following(id(second), isOnlyBatch: false))
    }

    @Test func `as long as something lands, nothing is set aside; nor is a whole connection's load`() throws {
        let now = ContinuousClock.now
        let route = route(2, inAir: 5)
        for step in 0..<5 {
            #expect(!route.isStuck(at: now + .milliseconds(300 * step)))
            route.inAir -= 1
        }
        let full = self.route(2, inAir: 257)
        #expect(!full.isStuck(at: now) && !full.isStuck(at: now + .seconds(9)))
    }

    @Test func `a batch that is let go, or is somebody else's, holds nothing up`() throws {
        let route = ShardRoute()
        let old = try batch(1, 0, 2, on: route)
        let same = try batch(2, 0, 2, on: route)
        let behind = try batch(3, 10, 2, on: route)
        old.sendAll()
        route.left(over: id(first), by: 1)
        old.setAside()
        #expect(same.way == .none && behind.way == .none)
        same.becomeStale()
        #expect(behind.way == .any)
        old.leaveRoute()
        #expect(route.setAside.isEmpty && route.inAir == 0)
    }
}
