import BatchTesting
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
        route.close()
        #expect(route.connectionChoice(for: 1) == .none && route.connectionChoice(for: two.number) == .none)
        land(one, 0..<2)
        #expect(route.connectionChoice(for: 2) == .none)
        land(one, 2..<3)
        route.close()
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
}
