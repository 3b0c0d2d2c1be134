import APNs
import BinaryProtocol
import PushModel
import Testing

@testable import Gateway

@Suite struct BinaryExchangeTests {
    private let start = ContinuousClock.now
    private func at(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    @Test
    func
        `a connection whose questions were answered waits for responses, whatever others take the gateway for`()
    {
        let profile = BinaryGatewayProfile(BinarySettings())
        let (first, second) = (
            BinaryExchangeFixture(profile, at: start), BinaryExchangeFixture(profile, at: start)
        )
        first.send(0, at: start)
        first.poll(at: start)
        first.responses = 1
        // From now on the gateway reads no bytes and sends no reply.
        for tick in 1...480 {
            let now = at(tick * 50)
            if tick == 20 { second.send(1, at: now) }
            if tick == 100 { first.send(2, at: now) }
            first.poll(at: now)
            if second.end == nil { second.poll(at: now) }
        }
        #expect(second.end == "the gateway accepted no bytes for 20.0 seconds" && second.unknown == [1])
        #expect(first.delivered == [])
    }

    @Test func `a full window with refused tokens is expected to end after the usual reply time`()
        throws
    {
        let profile = BinaryGatewayProfile(BinarySettings())
        for _ in 0..<60 { profile.windowLimit.refused(after: 10) }
        for _ in 0..<20 { profile.quiet.replied(after: .milliseconds(500)) }
        let usual = try #require(profile.quiet.usualReply)
        let line = BinaryExchangeFixture(profile, at: start)
        for position in 0..<UInt32(profile.windowLimit.window) {
            #expect(line.exchange.expectedEnd == nil)
            line.send(position, at: at(Int(position)))
        }
        let full = at(profile.windowLimit.window - 1)
        #expect(line.exchange.expectedEnd == full + usual)
        line.poll(at: full + .milliseconds(50))
        #expect(line.exchange.expectedEnd == full + usual)
    }

    @Test func `a slow gateway is given time as long as it reads`() {
        let line = BinaryExchangeFixture(BinaryGatewayProfile(BinarySettings()), at: start)
        line.send(0, at: start)
        line.poll(at: start)
        line.responses = 1
        line.poll(at: at(50))
        // The gateway needs half a minute to read the bytes before this push. Until then it cannot reply to the push.
        line.send(1, at: at(100))
        for tick in 3...600 {
            line.unread = (600 - tick) * 5000
            line.poll(at: at(tick * 50))
        }
        #expect(line.end == nil)
        // From now on the gateway reads no bytes.
        for tick in 601...1010 { line.poll(at: at(tick * 50)) }
        #expect(line.end == "the gateway accepted no bytes for 20.0 seconds" && line.unknown == [0, 1])
    }

    @Test func `a reply after a stall is read although the gateway reads first`() {
        let line = BinaryExchangeFixture(BinaryGatewayProfile(BinarySettings()), at: start)
        line.send(0, at: start)
        // The gateway reads the push, and then stalls for three seconds. The gateway's reply becomes due during
        // the stall.
        for tick in 1...60 {
            line.responses = line.questions.count { $0 < at(100) || tick == 60 && $0 < at(tick * 50) }
            line.poll(at: at(tick * 50))
        }
        #expect(line.responses > 2 && line.delivered == [])
        line.reply(.invalidToken, 1, at: at(3001))
        #expect(line.dead == [0] && line.delivered == [])
    }

    @Test func `a reply without an identifier is not about an unsent sentinel`() {
        let settings = BinarySettings(endsWithSentinel: true)
        let line = BinaryExchangeFixture(BinaryGatewayProfile(settings), settings: settings, at: start)
        line.send(0, at: start)
        line.exchange.retire(at: start)
        line.reply(.invalidTokenSize, 0, at: at(1))
        #expect(line.delivered == [] && line.unknown == [0])
    }
}
