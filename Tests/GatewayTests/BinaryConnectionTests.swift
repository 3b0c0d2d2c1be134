import APNs
import BinaryProtocol
import EventLoop
import LoopTesting
import Testing
import Transport

@testable import Gateway

/// Checks one binary connection to a gateway that the test controls.
@Suite(.timeLimit(.minutes(5))) struct BinaryConnectionTests {
    @Test(arguments: [true, false]) func `the farm's own close does not count as a close by the gateway`(
        isPeersDoing: Bool
    )
        async throws
    {
        try await onLoop { () async throws -> Void in
            // The quiet time is so long that it does not end during this test, even on a slow machine.
            let settings = BinarySettings(command: .simple, quietTime: .seconds(300))
            let profile = BinaryGatewayProfile(settings)
            let before = profile.windowLimit.window
            let accepted = Mailbox<ByteStream>()
            let listener = try await Listener(.tcp(host: "127.0.0.1", port: 0), tls: nil) { accepted.put($0) }
            let stream = try await Dial(
                .tcp(host: "127.0.0.1", port: listener.address.port), timeout: .seconds(20)
            ).connect()
            let gateway = try await accepted.next()
            let arrivals = Mailbox<Int>()
            gateway.onBytes = { arrivals.put($0.count) }
            let sender = Sender()
            sender.connection = BinaryConnection(
                over: stream, settings: settings, profile: profile, generation: 1,
                timeout: .seconds(20), listener: sender)
            sender.push(0..<1)
            _ = try await arrivals.next()
            if isPeersDoing { gateway.close() } else { sender.connection?.close() }
            _ = try await sender.ended.next()
            #expect(sender.isBalanced)
            let verdict = Verdict.processingFailed(reason: "ClosedWithoutReply")
            #expect(sender.refusals.map(\.verdict) == (isPeersDoing ? [verdict] : []))
            #expect(sender.unknown == (isPeersDoing ? 0 : 1))
            #expect(profile.windowLimit.window == (isPeersDoing ? before / 2 : before))
            gateway.close()
            listener.close()
        }
    }
}
