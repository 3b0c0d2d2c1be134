import APNs
import EventLoop
import HTTP2
import LoopTesting
import PushModel
import Testing
import Transport

@testable import Gateway

/// One connection to a gateway whose frames the test chooses.
@Suite(.timeLimit(.minutes(5))) struct ConnectionTests {
    @Test func `a response before the end of the body frees no room`() async throws {
        try await onLoop { () async throws -> Void in
            let (gateway, sender) = try await RawGateway.connect(token: nil) {
                $0.initialWindowSize = 0
                $0.maxConcurrentStreams = 3
            }
            var responded: Int32 = -1
            gateway.onInput = { [unowned gateway] in
                while responded + 2 <= gateway.session.newestStream {
                    responded += 2
                    gateway.respond(responded, "413", body: #"{"reason":"PayloadTooLarge"}"#)
                }
            }
            sender.push(0..<50)
            try await sender.finish()
            #expect(sender.isBalanced && sender.refusals.count == 50)
            #expect(sender.connection?.openStreams == 0)
        }
    }

    @Test func `a gateway that breaks the protocol ends the connection`()
        async throws
    {
        try await onLoop { () async throws -> Void in
            let (gateway, sender) = try await RawGateway.connect(token: nil)
            sender.push(0..<5)
            try await gateway.requests.wait(until: 5)
            // A DATA frame on stream 0, which HTTP/2 forbids.
            [0, 0, 1, 0, 0, 0, 0, 0, 0, 0].withUnsafeBufferPointer { (bytes: UnsafeBufferPointer<UInt8>) in
                gateway.stream.write(UnsafeRawBufferPointer(bytes))
            }
            // The sender gets the pushes 5 to 9 in the same turn of the event loop in which the connection fails.
            gateway.stream.setNeedsFlush()
            sender.push(5..<10)
            #expect(try await sender.ended.next() != "")
            #expect(
                sender.settledTwice == 0 && sender.refusedSends == 0
                    && sender.settledCount == sender.sends.count)
            #expect(sender.connection?.room == 0 && sender.connection?.isRetired == true)
        }
    }

    @Test func `the reported room matches what send accepts`() async throws {
        try await onLoop { () async throws -> Void in
            let (gateway, sender) = try await RawGateway.connect(token: nil) { $0.maxConcurrentStreams = 2 }
            // The sender uses the reported room as soon as a push is settled. The session may still process events at this
            // moment, but the room must already be correct.
            sender.onSettled = { _, _ in sender.loopTurnEnded() }
            gateway.onInput = { [unowned gateway] in
                for number in stride(from: 1, through: gateway.session.newestStream, by: 2) {
                    gateway.respond(number, "200")
                }
            }
            sender.push(0..<100)
            try await sender.finish()
            #expect(sender.isBalanced && sender.delivered == 100)
        }
    }

    @Test func `a refusal names the credentials of its push`() async throws {
        try await onLoop { () async throws -> Void in
            let (gateway, sender) = try await RawGateway.connect(token: nil)
            sender.push(0..<1)
            let first = try await gateway.requests.next()
            sender.connection?.renew(Array("another".utf8), generation: 2)
            sender.push(1..<2)
            let second = try await gateway.requests.next()
            for number in [second, first] {
                gateway.respond(number, "403", body: #"{"reason":"ExpiredProviderToken"}"#)
            }
            try await sender.finish()
            #expect(sender.refusals.map(\.generation) == [1, 2])
        }
    }

    @Test(arguments: [
        (
            #"{"reason":"BadCertificateEnvironment"}"#,
            Verdict.credentialsWrong(reason: "BadCertificateEnvironment"), "GOAWAY BadCertificateEnvironment"
        ),
        (#"{"reason":"IdleTimeout"}"#, .connectionOver(reason: "IdleTimeout"), "GOAWAY IdleTimeout"),
        (
            "Maximum active streams violated", .connectionOver(reason: "Maximum active streams violated"),
            "GOAWAY Maximum active streams violated"
        ),
        ("", .connectionOver(reason: "GOAWAY"), "GOAWAY code 0"),
    ]) func `the debug data of GOAWAY gives the verdict`(note: String, verdict: Verdict, words: String)
        async throws
    {
        try await onLoop { () async throws -> Void in
            let (gateway, sender) = try await RawGateway.connect(token: nil)
            Array(note.utf8).withUnsafeBytes { gateway.session.goAway(debug: $0) }
            gateway.stream.setNeedsFlush()
            #expect(try await sender.spent.next() == words)
            #expect(sender.verdicts == [verdict] && sender.connection?.room == 0)
        }
    }

    @Test func `a lost gateway leaves open pushes with an unknown outcome`() async throws {
        try await onLoop { () async throws -> Void in
            let (gateway, sender) = try await RawGateway.connect(token: nil)
            sender.push(0..<10)
            try await gateway.requests.wait(until: 10)
            gateway.respond(1, "200")
            try await sender.settled(1)
            gateway.stream.close()
            _ = try await sender.ended.next()
            #expect(sender.isBalanced && sender.delivered == 1 && sender.unknown == 9)
            #expect(sender.connection?.room == 0)
            sender.connection?.close()
            sender.connection?.retire()
            #expect(sender.ended.all.count == 1)
        }
    }

    @Test func `close settles all open pushes once and sends GOAWAY`() async throws {
        try await onLoop { () async throws -> Void in
            let (gateway, sender) = try await RawGateway.connect(token: nil)
            sender.push(0..<10)
            try await gateway.requests.wait(until: 10)
            sender.connection?.close()
            #expect(sender.isBalanced && sender.unknown == 10 && sender.ended.all == ["closed"])
            _ = try await gateway.ended.next()
        }
    }

    @Test func `a listener may close the connection during a settlement`() async throws {
        try await onLoop { () async throws -> Void in
            let (gateway, sender) = try await RawGateway.connect(token: nil)
            sender.push(0..<10)
            try await gateway.requests.wait(until: 10)
            sender.onSettled = { _, _ in sender.connection?.close() }
            for number in stride(from: Int32(1), through: 19, by: 2) { gateway.respond(number, "200") }
            try await sender.finish()
            #expect(sender.isBalanced && sender.delivered + sender.unknown == 10)
            #expect(sender.ended.all.count == 1)
        }
    }

    @Test func `a response that arrived while the process was suspended is in time`() async throws {
        try await onLoop { () async throws -> Void in
            let (gateway, sender) = try await RawGateway.connect()
            sender.push(0..<1)
            try await gateway.requests.wait(until: 1)
            gateway.respond(1, "200")
            gateway.stream.sendNow()
            // The response is in the socket, but the event loop has not read it. `poll` must read it before it checks the
            // deadline.
            let connection = try #require(sender.connection as? APNsConnection)
            connection.poll(at: .now + .seconds(60))
            #expect(sender.delivered == 1)
        }
    }

    @Test func `a response after the deadline changes nothing`() async throws {
        try await onLoop { () async throws -> Void in
            let (gateway, sender) = try await RawGateway.connect(token: nil, timeout: .milliseconds(50))
            sender.push(0..<3)
            try await gateway.requests.wait(until: 3)
            // When the deadline ends a push, the gateway responds at once. So the worker's reset and the gateway's response
            // are in flight at the same time.
            sender.onSettled = { number, _ in gateway.respond(Int32(number) * 2 + 1, "200") }
            try await sender.finish()
            sender.onSettled = { _, _ in }
            #expect(await until { sender.connection?.openStreams == 0 })
            #expect(sender.isBalanced && sender.unknown == 3)
        }
    }

    @Test func `a first settings frame without a limit allows streams`() async throws {
        try await onLoop { () async throws -> Void in
            let (gateway, sender) = try await RawGateway.connect(token: nil) { $0.maxConcurrentStreams = nil }
            sender.push(0..<20)
            try await gateway.requests.wait(until: 20)
            #expect(sender.mostOpen == 20)
            sender.connection?.close()
        }
    }

    @Test func `each request states the length of its payload`() async throws {
        try await onLoop { () async throws -> Void in
            let (gateway, sender) = try await RawGateway.connect(token: nil)
            #expect(await until { sender.connection!.room > 0 })
            let counts = [2, 2, 9, 10, 9, 4096, 5120, 0, 1]
            for (number, count) in counts.enumerated() {
                sender.payload = [UInt8](repeating: 0x20, count: count)
                sender.push(number..<number + 1)
                sender.loopTurnEnded()
            }
            try await gateway.requests.wait(until: counts.count)
            #expect(gateway.lengths.map(\.said).sorted() == counts.map(String.init).sorted())
            #expect(gateway.lengths.map(\.had).sorted() == counts.sorted())
        }
    }

    @Test(arguments: [
        ("411", "<html><h1>Length Required</h1></html>"), ("407", ""), ("302", ""), ("431", "too large"),
        ("503", "<html>no server is available</html>"), ("403", "<html>blocked by policy</html>"),
        ("410", "<html>Gone</html>"), ("400", "<html>400 Bad Request</html>"), ("413", "<html></html>"),
    ]) func `a response of a proxy decides nothing about push, token or credentials`(
        status: String, page: String
    ) async throws {
        try await onLoop { () async throws -> Void in
            let (gateway, sender) = try await RawGateway.connect(token: nil)
            sender.push(0..<1)
            gateway.respond(try await gateway.requests.next(), status, body: page)
            try await sender.finish()
            #expect(
                sender.refusals.map(\.verdict) == [.serverTrouble(reason: "HTTP\(status)", reconnect: false)])
            #expect(sender.connection?.isProven == false)
        }
    }

    @Test func `a proxy that forwarded the push leaves the outcome unknown`() async throws {
        try await onLoop { () async throws -> Void in
            let (gateway, sender) = try await RawGateway.connect(token: nil)
            sender.push(0..<1)
            gateway.respond(try await gateway.requests.next(), "502", body: "<html>Bad Gateway</html>")
            try await sender.finish()
            #expect(sender.refusals.map(\.verdict) == [.outcomeUnknown(reason: "HTTP502")])
            #expect(sender.connection?.isProven == false)
        }
    }

    @Test func `a token and a topic of maximum length are sent`() async throws {
        try await onLoop { () async throws -> Void in
            let long = String(repeating: "t", count: 255)
            let head = PushHead(PushOptions(pushType: .liveactivity), appTopic: long)
            let (gateway, sender) = try await RawGateway.connect(token: nil)
            #expect(await until { sender.connection!.room > 0 })
            let token = [UInt8](repeating: 0xAB, count: 255)
            let isTaken = token.withUnsafeBytes { token in
                sender.connection!.send(
                    head, token: token, id: PushID.Job(id: "j").pushID(token: token), payload: token,
                    ticket: PushTicket(batch: 9, position: 0), at: .now)
            }
            #expect(isTaken)
            #expect(try await gateway.requests.next() == 1)
        }
    }
}
