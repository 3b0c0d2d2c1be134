import EventLoop
import LoopTesting
import Testing

@testable import Delivery
@testable import Worker

/// Suspect batches of one app beside another app that cannot send for a while.
@Suite struct SuspectPushTurnTests {
    @Loop private final class Sender: SuspectPushTurn.Member {
        var hasSuspect = false
        var hasSuspectInFlight = false
        var isClearForSuspect = true
        var hasNothingInFlight = true
        var turns = 0
        func schedule() { turns += 1 }
    }

    @Test func `suspect pushes in flight keep the exclusive turn`() async throws {
        try await onLoop { () async throws -> Void in
            let suspectTurn = SuspectPushTurn()
            let (suspect, other) = (Sender(), Sender())
            for member in [suspect, other] { suspectTurn.join(member) }
            #expect(!suspectTurn.isWanted && suspectTurn.maySend(other) && suspectTurn.maySend(suspect))
            suspect.hasSuspect = true
            #expect(suspectTurn.isWanted && suspectTurn.maySendSuspect(suspect))
            #expect(suspectTurn.maySend(other))
            (suspect.hasSuspectInFlight, suspect.hasNothingInFlight) = (true, false)
            #expect(suspectTurn.maySendSuspect(suspect), "the rest of its group")
            // Now the app cannot send its suspect, as if its lease had expired or its credentials were invalid.
            suspect.hasSuspect = false
            #expect(suspectTurn.isWanted && !suspectTurn.maySend(other) && suspectTurn.maySend(suspect))
            suspectTurn.noteResponse(to: suspect)
            #expect(other.turns == 0, "others of the group are in flight")
            suspect.hasSuspectInFlight = false
            suspectTurn.noteResponse(to: suspect)
            #expect(other.turns == 1 && suspectTurn.maySend(other) && !suspectTurn.isWanted)
        }
    }

    @Test func `an app with credit sends nothing beside the suspect push of another app`()
        async throws
    {
        try await SenderFixture.run { farm in
            let (sender, other) = (farm.sender, Sender())
            farm.context.suspectTurn.join(other)
            // The app has no connection yet. The app counts as idle and keeps its credit.
            try await farm.submit([100])
            #expect(await until { sender.window.creditInUse == 100 && !sender.window.checkouts.isPending })
            #expect(sender.isClearForSuspect)
            (other.hasSuspectInFlight, other.hasNothingInFlight) = (true, false)
            try farm.apply()
            for _ in 0..<5 { _ = try await farm.run("PING") }
            #expect(sender.pool.dials == 0)
            (other.hasSuspectInFlight, other.hasNothingInFlight) = (false, true)
            farm.context.suspectTurn.noteResponse(to: other)
            #expect(await until { farm.counters.accepted == 100 })
        }
    }

    @Test func `a suspect batch waits for pushes in flight, for granted credit and for the first suspect`()
        async throws
    {
        try await onLoop { () async throws -> Void in
            let suspectTurn = SuspectPushTurn()
            let (first, second) = (Sender(), Sender())
            for member in [first, second] { suspectTurn.join(member) }
            second.hasSuspect = true
            #expect(suspectTurn.maySendSuspect(second))
            first.isClearForSuspect = false
            #expect(!suspectTurn.maySendSuspect(second))
            (first.isClearForSuspect, first.hasNothingInFlight) = (true, false)
            #expect(!suspectTurn.maySendSuspect(second))
            (first.hasNothingInFlight, first.hasSuspect) = (true, true)
            #expect(!suspectTurn.maySendSuspect(second) && suspectTurn.maySendSuspect(first))
        }
    }
}
