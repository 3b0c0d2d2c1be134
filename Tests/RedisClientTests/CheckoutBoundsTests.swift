import PushModel
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Checks which batches a checkout leaves for the next checkout.
@Suite struct CheckoutBoundsTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    @Test func `a call checks at most 32 batches that cannot be checked out`() throws {
        try ScriptCase.addUnusableBatches(fixture, 32)
        let first = try fixture.checkout()
        #expect(first.batches.isEmpty && first.nonEmptyShards.contains(1))
        #expect(try StoreFixture.jobs(fixture.checkout().batches) == ["good"])
        #expect(try fixture.redis.run("LLEN", "{pushfarm:demo}:in_flight:01").integer == 1)
    }

    @Test func `a batch that ended workers before any send is the last of its reply`() throws {
        for step in 1...2 { try fixture.split(step: step, [("j\(step)", 2)]) }
        try fixture.set(ScriptCase.first(fixture), to: "|1|0|0,0,0,0,0,0,0,1|2|..")
        #expect(try StoreFixture.jobs(fixture.checkout(known: nil).batches) == ["j1"])
        #expect(try StoreFixture.jobs(fixture.checkout(known: nil).batches) == ["j2"])
    }

    @Test func `without credit the batch of the next shard stays`() throws {
        for step in 1...2 { try fixture.split(step: step, [("j\(step)", 2)], shard: step) }
        let first = try fixture.checkout(credit: 2, known: nil)
        #expect(try StoreFixture.jobs(first.batches) == ["j1"] && first.nonEmptyShards.contains(2))
        #expect(try StoreFixture.jobs(fixture.checkout(credit: 2, known: nil).batches) == ["j2"])
    }

    @Test(arguments: [(255, ["j1", "j2"]), (327, ["j1"]), (328, ["j1", "j2"])])
    func `a small rest of a large credit is not given to a further batch`(
        credit: Int, given: [String]
    ) throws {
        for step in 1...2 { try fixture.split(step: step, [("j\(step)", 200)], shard: step) }
        let reply = try fixture.checkout(credit: credit, known: nil)
        #expect(try StoreFixture.jobs(reply.batches) == given)
        #expect(reply.batches.map(\.granted).reduce(0, +) == (given.count == 1 ? 200 : credit))
        #expect(given.count == 2 || reply.nonEmptyShards.contains(2), "the other one is asked for again")
    }
}
