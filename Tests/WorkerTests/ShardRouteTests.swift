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
}
