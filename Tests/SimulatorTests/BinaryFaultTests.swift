import APNs
import EventLoop
import Foundation
import OpenSSL
import Simulator
import Testing
import Transport

@Suite struct BinaryFaultTests {
    @Test func `a connection is closed without a reply after N frames or now`() async throws {
        try await TestGateway.run(.binary { $0.faults.append("binary close 3") }) { test in
            let first = try await test.send()
            first.write(.good(1), .good(2), .good(3), .good(4), .bad(5))
            #expect(await first.untilEnd() == [])
            #expect(first.end == "closed by the peer")
            let ledger = try test.ledger()
            #expect(
                ledger.map { $0["outcome"] } == [
                    "accepted", "accepted", "accepted", "discarded", "discarded",
                ])
            #expect(ledger.map { $0["after"] } == [nil, nil, nil, "3", "3"])
            let second = try await test.send()
            second.write(.good(1))
            try await test.until { test.binary.accepted == 4 }
            _ = try await test.control("binary close now")
            #expect(await second.untilEnd() == [])
            _ = try await test.control("binary close 0")
            #expect(await (try test.send()).untilEnd() == [])
            #expect(test.binary.causelessCloses == 3)
        }
    }

    @Test func `a reset fault resets the connection`() async throws {
        try await TestGateway.run(.binary { $0.faults.append("binary close 1 reset delay=20ms") }) { test in
            let first = try await test.send()
            first.write(.good(1))
            #expect(await first.untilEnd() == [])
            #expect(first.end != "closed by the peer")
            _ = try await test.control("binary close off")
            let second = try await test.send()
            second.write(.good(1))
            try await test.until { test.binary.accepted == 2 }
            _ = try await test.control("binary close now reset")
            _ = await second.untilEnd()
            #expect(second.end != "closed by the peer")
        }
    }

    @Test(arguments: [false, true]) func `the close comes after a lost reply`(isReset: Bool) async throws {
        try await TestGateway.run(.binary { $0.faults.append("binary lose 100%\(isReset ? " reset" : "")") })
        {
            test in
            let sender = try await test.send()
            sender.write(.good(1), .bad(2), .good(3))
            #expect(await sender.untilEnd() == [])
            #expect((sender.end == "closed by the peer") == !isReset)
            let ledger = try test.ledger()
            #expect(ledger.map { $0["outcome"] } == ["accepted", "refused", "discarded"])
            #expect(ledger.map { $0["lost"] } == [nil, "1", nil])
            #expect(test.binary.replies == 0 && test.binary.lostReplies == 1)
        }
    }

    @Test(arguments: [false, true]) func `the close comes also after a cut reply`(isReset: Bool) async throws
    {
        try await TestGateway.run(
            .binary {
                $0.faults += ["binary cut 100% bytes=3\(isReset ? " reset" : "")", "binary linger 50ms"]
            }
        ) { test in
            let first = try await test.send()
            first.write(.good(1), .bad(2), .good(3))
            #expect(await first.untilEnd() == Array(reply(8, 2).prefix(3)))
            #expect((first.end == "closed by the peer") == !isReset)
            let ledger = try test.ledger()
            #expect(ledger.map { $0["outcome"] } == ["accepted", "refused", "discarded"])
            #expect(ledger.map { $0["lost"] } == [nil, "1", nil])
            _ = try await test.control("binary cut 100% bytes=5")
            _ = try await test.control("binary shutdown 1")
            let second = try await test.send()
            second.write(.good(7))
            #expect(await second.untilEnd() == Array(reply(10, 7).prefix(5)))
            #expect(test.binary.replies == 0 && test.binary.cutReplies == 2 && test.binary.lostReplies == 0)
            _ = try await test.control("binary cut off")
            let third = try await test.send()
            third.write(.bad(4))
            #expect(await third.untilEnd() == reply(8, 4))
            #expect(test.binary.replies == 1 && test.binary.cutReplies == 2)
        }
    }

    @Test func `a trickled reply arrives byte by byte`() async throws {
        try await TestGateway.run(.binary { $0.faults.append("binary trickle 100% pause=20ms-30ms") }) {
            test in
            let first = try await test.send()
            var pieces: [Int] = []
            let start = ContinuousClock.now
            first.onReceived = { pieces.append($0) }
            first.write(.good(1), .bad(2), .good(3))
            #expect(await first.untilEnd() == reply(8, 2))
            // On a slow machine several bytes may arrive together.
            #expect(pieces.count > 1 && ContinuousClock.now - start >= .milliseconds(80))
            #expect(test.binary.replies == 1)
            // The gateway discards pushes that arrive after the reply's first byte.
            #expect(try test.ledger().map { $0["outcome"] } == ["accepted", "refused", "discarded"])
            _ = try await test.control("binary trickle 100% pause=1h")
            let second = try await test.send()
            second.write(.bad(9))
            await second.until { !second.received.isEmpty }
            for _ in 0..<20 { _ = try await test.control("faults") }
            #expect(second.received == [8] && second.end == nil && test.binary.replies == 1)
            second.close()
            _ = try await test.control("binary trickle 100%")
            _ = try await test.control("binary cut 100% bytes=2")
            let third = try await test.send()
            third.write(.bad(4))
            #expect(await third.untilEnd() == [8, 8])
            #expect(test.binary.replies == 1 && test.binary.cutReplies == 1)
        }
    }

    @Test func `a shutdown names the last accepted push and discards later pushes`() async throws {
        try await TestGateway.run(.binary { $0.faults.append("binary shutdown 2") }) { test in
            let first = try await test.send()
            first.write(.good(71), .good(72), .good(73), .bad(74))
            #expect(await first.untilEnd() == reply(10, 72))
            #expect(
                try test.ledger().map { $0["outcome"] } == ["accepted", "accepted", "discarded", "discarded"])
            let second = try await test.send()
            second.write(.good(81))
            try await test.until { test.binary.accepted == 3 }
            _ = try await test.control("binary shutdown now")
            #expect(await second.untilEnd() == reply(10, 81))
            #expect(test.binary.shutdowns == 2)
        }
    }

    @Test func `the refuse fault refuses valid frames`() async throws {
        try await TestGateway.run(.binary { $0.faults.append("binary refuse 100% status=99") }) { test in
            let sender = try await test.send()
            sender.write(.good(1), .good(2))
            #expect(await sender.untilEnd() == reply(99, 1))
            #expect(try test.ledger().map { $0["reason"] } == ["Status99", nil])
        }
    }

    @Test func `a stopped reader fills the socket and continues when the fault ends`() async throws {
        try await TestGateway.run(.binary { $0.faults.append("binary slow 0") }) { test in
            let sender = try await test.send()
            // These frames have more bytes than the socket buffers of both sides can hold.
            let count = 8_000
            let payload = Array(#"{"aps":{"alert":"\#(String(repeating: "a", count: 1500))"}}"#.utf8)
            let frames = (1...UInt32(count)).flatMap { TestFrame(id: $0, payload: payload).bytes }
            sender.write(frames + TestFrame.bad(0).bytes)
            for _ in 0..<20 { _ = try await test.control("faults") }
            #expect(test.binary.frames == 0)
            #expect(sender.stream.queuedBytes > 1 << 20)
            _ = try await test.control("binary slow off")
            #expect(await sender.untilEnd() == reply(8, 0))
            #expect(test.binary.accepted == count)
        }
    }

    @Test func `the slow fault limits the bytes a second that the gateway reads`() async throws {
        try await TestGateway.run(.binary { $0.faults.append("binary slow 1") }) { test in
            let sender = try await test.send()
            let bytes = (1...1000).flatMap { TestFrame.good($0).bytes }
            sender.write(bytes + TestFrame.bad(0).bytes)
            try await test.until { test.binary.frames > 0 }
            // At one byte a second, the gateway does not read again for hours after the first piece.
            let first = test.binary.frames
            #expect(first < 1000)
            for _ in 0..<50 { _ = try await test.control("faults") }
            #expect(test.binary.frames == first)
            // At this rate, the gateway needs a tenth of a second for each piece of 16 KiB.
            let start = ContinuousClock.now
            _ = try await test.control("binary slow 160000")
            #expect(await sender.untilEnd() == reply(8, 0))
            let left = bytes.count - (first + 1) * bytes.count / 1000
            #expect(ContinuousClock.now - start >= .seconds(Double(left - (16 << 10)) / 160_000))
            #expect(test.binary.accepted == 1000)
        }
    }

    @Test func `the handshake fault breaks handshakes off`() async throws {
        try await TestGateway.run(.binary { $0.faults.append("binary handshake 100%") }) { test in
            await #expect(throws: TransportError.self) { _ = try await test.send() }
            _ = try await test.control("binary handshake off")
            let sender = try await test.send()
            sender.write(.bad(1))
            #expect(await sender.untilEnd() == reply(8, 1))
            let counters = try await test.control("counters")["binary"] as? [String: Any]
            #expect(counters?["broken_handshakes"] as? Int == 1)
        }
    }

    @Test func `several connections wait at the same time before their handshakes`() async throws {
        let fault = "binary accept 5m at=127.0.0.2"
        try await TestGateway.run(
            .binary { ($0.hosts, $0.faults) = (["127.0.0.1", "127.0.0.2"], [fault]) }
        ) { test in
            for _ in 0..<3 { Loop.task { do { _ = try await test.send(at: "127.0.0.2") } catch {} } }
            try await test.until { test.binaryNumber("accepting") == 3 }
            let sender = try await test.send()
            sender.write(.bad(1))
            #expect(await sender.untilEnd() == reply(8, 1))
            #expect(test.binaryNumber("most_accepting") == 3 && test.binary.connections == 1)
            let faults = try await test.control("faults")["binary"] as? [String: Any]
            let single = (faults?["at"] as? [String: Any])?["127.0.0.2"] as? [String: Any]
            #expect(single?["accept"] as? String == "300000.0ms")
            _ = try await test.control("binary accept 20ms-30ms")
            let late = try await test.send(at: "127.0.0.2")
            late.write(.bad(2))
            #expect(await late.untilEnd() == reply(8, 2))
        }
    }

    @Test(arguments: [TLSVersion.tls12, .tls13]) func `the newest TLS version is configurable`(
        version: TLSVersion
    ) async throws {
        try await TestGateway.run(.binary { $0.newestTLS = version }) { test in
            let sender = try await test.send()
            #expect(sender.stream.hasKeyUpdates == (version == .tls13))
            sender.write(.bad(1))
            #expect(await sender.untilEnd() == reply(8, 1))
        }
    }

    @Test func `a fault of one address does not affect other addresses`() async throws {
        try await TestGateway.run(.binary { $0.hosts = ["127.0.0.1", "127.0.0.2"] }) { test in
            _ = try await test.control("binary close 1 at=127.0.0.2")
            for (host, response) in [("127.0.0.1", reply(8, 2)), ("127.0.0.2", [])] {
                let sender = try await test.send(at: host)
                sender.write(.good(1), .bad(2))
                #expect(await sender.untilEnd() == response)
            }
            // A command without an address changes all addresses, even those with their own faults.
            _ = try await test.control("binary refuse 1 status=7")
            let sender = try await test.send(at: "127.0.0.2")
            sender.write(.good(1))
            #expect(await sender.untilEnd() == reply(7, 1))
            #expect(try await test.control("binary calm at=127.0.0.3")["ok"] as? Bool == false)
            let faults = try await test.control("faults")["binary"] as? [String: Any]
            #expect((faults?["at"] as? [String: Any])?.keys.sorted() == ["127.0.0.2"])
            _ = try await test.control("calm")
            #expect(test.gateway.faults == Faults())
        }
    }

    @Test func `the close-new fault closes new connections at once`() async throws {
        try await TestGateway.run(.binary { $0.faults.append("close-new on") }) { test in
            let sender = try await test.send()
            #expect(await sender.untilEnd() == [])
            #expect(test.binary.closedAtOnce == 1)
        }
    }

    @Test(
        arguments: [
            "binary", "binary nonsense", "binary delay", "binary delay fast", "binary close",
            "binary close -1",
            "binary close 5 share=2", "binary shutdown 0", "binary slow", "binary slow -1",
            "binary handshake x", "binary accept", "binary accept soon",
            "binary refuse 5% status=256", "binary unknown-command 128", "binary empty-token", "binary lose",
            "binary cut", "binary cut 50% bytes=6", "binary cut 50% bytes=0", "binary cut 2",
            "binary trickle", "binary trickle 50% pause=long", "binary trickle 50% 20ms",
            "binary delay 1s at=", "binary delay 1s at=1.2.3.4", "feedback", "feedback nonsense",
            "feedback add zz", "feedback add \(String(repeating: "a", count: 202))", "feedback fill 0",
            "feedback cut x", "feedback stay", "feedback add aa 5 6",
        ])
    func `an invalid command gets an error and changes nothing`(command: String) async throws {
        try await TestGateway.run(.binary { $0.faults = [] }) { test in
            let response = try await test.control(command)
            #expect(response["ok"] as? Bool == false)
            #expect(test.gateway.faults == Faults())
        }
    }
}
