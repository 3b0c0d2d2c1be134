import RedisProtocol
import StoreProtocol
import Testing

@testable import Coordinator
@testable import RedisClient
@testable import StoreProtocol

@Suite struct HostClaimTests {
    private func reply(at time: Int64, heldFor milliseconds: Int64) -> Heartbeat.Reply {
        Heartbeat.Reply(.array([.integer(time), .integer(milliseconds)]))
    }

    @Test func `a line that is never renewed belongs to nobody who lives`() {
        var seat = HostClaim()
        #expect(seat.see(reply(at: 1_000, heldFor: 6_000)) == .held(for: .seconds(6)))
        #expect(seat.see(reply(at: 2_000, heldFor: 5_000)) == .held(for: .seconds(5)))
        #expect(seat.see(reply(at: 7_001, heldFor: 0)) == .ours)
        // Redis goes back in time, and it is there again.
        #expect(seat.see(reply(at: 7_500, heldFor: 5_900)) == .held(for: .milliseconds(5_900)))
        #expect(seat.see(reply(at: 8_500, heldFor: 4_900)) == .held(for: .milliseconds(4_900)))
    }

    @Test func `one that is renewed belongs to another`() {
        var seat = HostClaim()
        #expect(seat.see(reply(at: 1_000, heldFor: 5_500)) == .held(for: .milliseconds(5_500)))
        #expect(seat.see(reply(at: 2_000, heldFor: 5_500)) == .lost)
    }
}
