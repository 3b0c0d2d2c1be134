import RedisProtocol
import StoreProtocol
import Testing

@testable import Coordinator
@testable import RedisClient
@testable import StoreProtocol

@Suite struct HostNameConflictTests {
    private func reply(at time: Int64, heldFor milliseconds: Int64) -> Heartbeat.Reply {
        Heartbeat.Reply(.array([.integer(time), .integer(milliseconds)]))
    }

    @Test func `a heartbeat that is never renewed belongs to no living process`() {
        var conflict = HostNameConflict()
        #expect(conflict.observe(reply(at: 1_000, heldFor: 6_000)) == .held(for: .seconds(6)))
        #expect(conflict.observe(reply(at: 2_000, heldFor: 5_000)) == .held(for: .seconds(5)))
        #expect(conflict.observe(reply(at: 7_001, heldFor: 0)) == .ours)
        // Redis returns to an earlier state in which the heartbeat still exists.
        #expect(conflict.observe(reply(at: 7_500, heldFor: 5_900)) == .held(for: .milliseconds(5_900)))
        #expect(conflict.observe(reply(at: 8_500, heldFor: 4_900)) == .held(for: .milliseconds(4_900)))
    }

    @Test func `a heartbeat that is renewed belongs to another process`() {
        var conflict = HostNameConflict()
        #expect(conflict.observe(reply(at: 1_000, heldFor: 5_500)) == .held(for: .milliseconds(5_500)))
        #expect(conflict.observe(reply(at: 2_000, heldFor: 5_500)) == .lost)
    }
}
