import EventLoop
import LoopTesting
import Testing

@testable import Worker

/// Careful batches of one app beside another app that cannot send for a while.
@Suite struct SolitudeTests {
    @Loop private final class Sender: Solitude.Member {
        var hasCareful = false
        var hasCarefulInAir = false
        var isStill = true
        var hasClearAir = true
        var turns = 0
        func schedule() { turns += 1 }
    }

    @Test func `careful pushes in the air keep it theirs, whether more can be sent or not`() async throws {
        try await onLoop { () async throws -> Void in
            let solitude = Solitude()
            let (careful, other) = (Sender(), Sender())
            for member in [careful, other] { solitude.join(member) }
            #expect(!solitude.isWanted && solitude.lets(other) && solitude.lets(careful))
            careful.hasCareful = true
            #expect(solitude.isWanted && solitude.admits(careful) && solitude.lets(other))
            (careful.hasCarefulInAir, careful.hasClearAir) = (true, false)
            #expect(solitude.admits(careful), "the rest of its group")
            // Its lease is in doubt, or its credentials: it cannot send any more.
            careful.hasCareful = false
            #expect(solitude.isWanted && !solitude.lets(other) && solitude.lets(careful))
            solitude.cameBack(to: careful)
            #expect(other.turns == 0, "others of the group are in the air")
            careful.hasCarefulInAir = false
            solitude.cameBack(to: careful)
            #expect(other.turns == 1 && solitude.lets(other) && !solitude.isWanted)
        }
    }

    @Test func `an app sends nothing beside another's careful push, though it was granted before`()
        async throws
    {
        try await SendingFarm.run { farm in
            let (sender, other) = (farm.sender, Sender())
            farm.context.solitude.join(other)
            // It has no way to send yet: it counts as still, and keeps its credit.
            try await farm.submit([100])
            #expect(await until { sender.window.exposure == 100 && !sender.window.isCheckingOut })
            #expect(sender.isStill)
            (other.hasCarefulInAir, other.hasClearAir) = (true, false)
            try farm.follow()
            for _ in 0..<5 { _ = try await farm.run("PING") }
            #expect(sender.pool.dials == 0)
            (other.hasCarefulInAir, other.hasClearAir) = (false, true)
            farm.context.solitude.cameBack(to: other)
            #expect(await until { farm.counters.accepted == 100 })
        }
    }

    @Test func `a careful batch waits for what others have in the air or credit for, and for the first`()
        async throws
    {
        try await onLoop { () async throws -> Void in
            let solitude = Solitude()
            let (first, second) = (Sender(), Sender())
            for member in [first, second] { solitude.join(member) }
            second.hasCareful = true
            #expect(solitude.admits(second))
            first.isStill = false
            #expect(!solitude.admits(second))
            (first.isStill, first.hasClearAir) = (true, false)
            #expect(!solitude.admits(second))
            (first.hasClearAir, first.hasCareful) = (true, true)
            #expect(!solitude.admits(second) && solitude.admits(first))
        }
    }
}
