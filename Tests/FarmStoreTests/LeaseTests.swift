import Testing

@testable import FarmStore

@Suite struct LeaseTests {
    let desk: Desk
    init() throws { desk = try Desk() }

    @Test func `asking again answers the same token`() throws {
        let again = try desk.perform(desk.acquire("n1"))
        #expect(again.answers == Array(repeating: .ours(desk.token), count: 5))
    }

    @Test func `a second coordinator waits for the lease to end`() throws {
        let answers = try desk.perform(desk.acquire("n2")).answers
        for answer in answers {
            guard case .taken(let left) = answer else {
                Issue.record("\(answer)")
                continue
            }
            #expect(left > .seconds(590) && left <= .seconds(600))
        }
        try desk.redis.run("HSET", "{pushfarm:demo}:owners", "until:n1", "1")
        let token = FenceToken(Array("2:n2:host".utf8))
        #expect(try desk.perform(desk.acquire("n2")).answers == Array(repeating: .ours(token), count: 5))
        #expect(throws: StoreError.fenced(field: "intake")) {
            try desk.perform(Take(token: desk.token, known: 0, maxJobs: 1, maxBytes: 1, maxJobBytes: 1))
        }
    }

    @Test func `a predecessor that is known to be gone is not waited for`() throws {
        let token = FenceToken(Array("2:n2:host".utf8))
        let answers = try desk.perform(desk.acquire("n2", predecessor: "n1")).answers
        #expect(answers == Array(repeating: .ours(token), count: 5))
        #expect(token.epoch == 2 && token.nonce == "n2" && token.host == "host")
    }

    @Test func `renewing tells what is lost`() throws {
        _ = try desk.perform(
            AcquireLeases(
                nonce: "n2", host: "h2", lease: .seconds(600), predecessor: "n1", fields: [.shard(1)]))
        let renew = RenewLeases(
            nonce: "n1", host: "host", lease: .seconds(600), fields: [.intake, .shard(0), .shard(1)])
        #expect(try desk.perform(renew) == [true, true, false])
        #expect(try desk.perform(renew) == [true, true, false])
        let owners = try desk.perform(ReadOwners())
        #expect(owners[.shard(1)]?.host == "h2" && owners[.intake]?.nonce == "n1" && owners.count == 5)
    }

    @Test func `what is released is free at once, with a new epoch`() throws {
        #expect(try desk.perform(ReleaseLeases(nonce: "n1", fields: [.shard(2), .intake])) == 2)
        #expect(try desk.perform(ReleaseLeases(nonce: "n1", fields: [.shard(2), .intake])) == 0)
        let answers = try desk.perform(
            AcquireLeases(nonce: "n2", host: "host", lease: .seconds(1), fields: [.shard(2), .shard(3)])
        ).answers
        #expect(answers[0] == .ours(FenceToken(Array("2:n2:host".utf8))))
        guard case .taken = answers[1] else {
            Issue.record("shard 3 was taken")
            return
        }
        #expect(try desk.perform(ReleaseLeases(nonce: "n1", fields: nil)) == 3)
        #expect(try desk.perform(ReadOwners()).count == 1)
    }
}
