import APNs
import EventLoop
import Foundation
import OpenSSL
import Simulator
import Testing

@Suite struct BinaryTests {
    @Test func `the first bad push gets a reply, and all pushes after it are discarded`() async throws {
        try await TestGateway.run(.binary()) { test in
            let sender = try await test.send()
            sender.write(.good(1), .bad(2), .good(3), .bad(4), .good(5))
            #expect(await sender.untilEnd() == reply(8, 2))
            #expect(sender.end == "closed by the peer")
            let ledger = try test.ledger()
            #expect(
                ledger.map { $0["outcome"] } == ["accepted", "refused"]
                    + Array(repeating: "discarded", count: 3))
            #expect(ledger.map { $0["status"] } == ["200", "8", "0", "0", "0"])
            #expect(ledger.map { $0["identifier"] } == ["1", "2", "3", "4", "5"])
            #expect(ledger.map { $0["frame"] } == ["1", "2", "3", "4", "5"])
            #expect(ledger.map { $0["after"] } == [nil, nil, "2", "2", "2"])
            #expect(ledger.map { $0["after_identifier"] } == [nil, nil, "2", "2", "2"])
            #expect(ledger[1]["reason"] == "InvalidToken")
            let counters = try await test.control("counters")["binary"] as? [String: Any] ?? [:]
            #expect(counters["frames"] as? Int == 5)
            #expect(counters["accepted"] as? Int == 1)
            #expect(counters["refused"] as? Int == 1)
            #expect(counters["discarded"] as? Int == 3)
            #expect(counters["by_status"] as? [String: Int] == ["8": 1])
            #expect(counters["replies"] as? Int == 1)
            #expect(counters["distinct_tokens"] as? Int == 1)
            #expect(counters["open_connections"] as? Int == 0)
        }
    }

    @Test func `the ledger notes each command with its fields`() async throws {
        try await TestGateway.run(.binary()) { test in
            let sender = try await test.send()
            sender.write(
                TestFrame(expiration: 9, priority: 5, command: .simple),
                TestFrame(id: 1000, expiration: 864_000, command: .enhanced),
                TestFrame(id: .max, expiration: 0, priority: 5), TestFrame(payload: Array("no JSON".utf8)),
                .bad(7))
            #expect(await sender.untilEnd() == reply(8, 7))
            let ledger = try test.ledger()
            #expect(ledger.map { $0["command"] } == ["0", "1", "2", "2", "2"])
            #expect(ledger.map { $0["identifier"] } == [nil, "1000", "4294967295", "0", "7"])
            #expect(ledger.map { $0["expiration"] } == [nil, "864000", "0", nil, nil])
            #expect(ledger.map { $0["priority"] } == [nil, nil, "5", nil, nil])
            #expect(ledger.prefix(4).allSatisfy { $0["status"] == "200" })
            #expect(ledger.allSatisfy { $0["topic"] == "com.example.demo" })
            #expect(ledger[0]["token"] == String(repeating: "a7", count: 32))
            #expect(ledger[3]["warning"]?.hasPrefix("the payload is not") == true)
            // The SHA-256 sum of {"aps":{"alert":"Hi"}}.
            #expect(
                ledger[0]["body_sha256"] == "67e30b090b922eef9a7cd1792f0f858a9a5f1edcd83ca9e261aebd83fb362399"
            )
        }
    }

    @Test func `the documented example frames are read`() async throws {
        try await TestGateway.run(.binary()) { test in
            let token = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"
            let payload = Data(#"{"aps":{"alert":"Hi"}}"#.utf8).map { String(format: "%02x", $0) }.joined()
            let frames = [
                "00 0020 \(token) 0016 \(payload)", "01 000003e8 6553f100 0020 \(token) 0016 \(payload)",
                "02 0000004e 01 0020 \(token) 02 0016 \(payload) 03 0004 000003e8 04 0004 6553f100 05 0001 0a",
            ]
            _ = try await test.control("token \(token) valid")
            let sender = try await test.send()
            for frame in frames { sender.write(bytes(frame)) }
            sender.write(.bad(1))
            #expect(await sender.untilEnd() == bytes("08 08 00000001"))
            #expect(try test.ledger().map { $0["token"] }.prefix(3) == [token, token, token])
            #expect(test.binary.accepted == 3)
        }
    }

    @Test func `frames can arrive byte by byte or all at once`() async throws {
        try await TestGateway.run(.binary()) { test in
            let frames = [
                .good(1), TestFrame(command: .simple), TestFrame(id: 3, command: .enhanced), .bad(4),
            ]
            let all = frames.flatMap(\.bytes)
            let slow = try await test.send()
            for byte in all {
                slow.write([byte])
                slow.stream.sendNow()
            }
            #expect(await slow.untilEnd() == reply(8, 4))
            let fast = try await test.send()
            let many = (1...5000).flatMap { TestFrame.good($0).bytes }
            fast.write(many + TestFrame.bad(5001).bytes)
            #expect(await fast.untilEnd() == reply(8, 5001))
            #expect(test.binary.accepted == 5003)
            #expect(try test.ledger().filter { $0["outcome"] == "accepted" }.count == 5003)
        }
    }

    @Test func `an incomplete frame does not count as a push`() async throws {
        try await TestGateway.run(.binary()) { test in
            let sender = try await test.send()
            sender.write(TestFrame.good(1).bytes + TestFrame.good(2).bytes.dropLast())
            sender.stream.sendNow()
            sender.close()
            try await test.until { test.binary.halfFrames == 1 }
            #expect(try test.ledger().count == 1)
        }
    }

    @Test func `the reply is delayed, and the close follows it`() async throws {
        try await TestGateway.run(.binary { $0.faults = ["binary delay 1h"] }) { test in
            let first = try await test.send()
            first.write(.bad(1))
            try await test.until { test.binary.refused == 1 }
            for _ in 0..<20 { _ = try await test.control("binary delay 80ms-90ms") }
            #expect(first.received == [] && first.end == nil)
            let second = try await test.send()
            let start = ContinuousClock.now
            second.write(.bad(1))
            #expect(await second.untilEnd() == reply(8, 1))
            #expect(ContinuousClock.now - start >= .milliseconds(80))
        }
    }

    @Test func `pushes before and after a delayed reply are read and discarded`() async throws {
        try await TestGateway.run(.binary { $0.faults = ["binary delay 50ms", "binary linger 1h"] }) { test in
            let sender = try await test.send()
            sender.write(.bad(1))
            sender.write(.good(2))
            await sender.until { !sender.received.isEmpty }
            sender.write(.good(3))
            try await test.until { test.binary.frames == 3 }
            #expect(sender.received == reply(8, 1) && sender.end == nil)
            #expect(try test.ledger().map { $0["outcome"] } == ["refused", "discarded", "discarded"])
        }
    }

    @Test func `a refused push of command 0 gets a close without a reply`() async throws {
        try await TestGateway.run(.binary()) { test in
            let sender = try await test.send()
            sender.write(TestFrame(token: TestFrame.bad, command: .simple), TestFrame(command: .simple))
            #expect(await sender.untilEnd() == [])
            #expect(sender.end == "closed by the peer")
            let ledger = try test.ledger()
            #expect(ledger.map { $0["outcome"] } == ["refused", "discarded"])
            #expect(ledger[1]["after"] == "1" && ledger[1]["after_identifier"] == nil)
        }
    }

    @Test func `unreadable bytes get status 128 or only a close`() async throws {
        try await TestGateway.run(.binary()) { test in
            let first = try await test.send()
            first.write(TestFrame.good(1).bytes + [7] + TestFrame.good(2).bytes)
            #expect(await first.untilEnd() == reply(128, 0))
            // The frame has an identifier and then an unknown item, so the reply contains the identifier. The next frame is
            // readable, but the gateway discards it.
            let second = try await test.send()
            second.write(bytes("02 0000000b 03 0004 00000009 09 0001 00") + TestFrame.good(3).bytes)
            #expect(await second.untilEnd() == reply(128, 9))
            _ = try await test.control("binary unknown-command close")
            let third = try await test.send()
            third.write([7])
            #expect(await third.untilEnd() == [])
            let ledger = try test.ledger()
            #expect(
                ledger.map { $0["outcome"] } == ["accepted", "refused", "refused", "discarded", "refused"])
            #expect(ledger.map { $0["command"] } == ["2", "7", "2", "2", "7"])
        }
    }

    @Test func `the reply to an empty token has id 0 unless configured otherwise`() async throws {
        try await TestGateway.run(.binary()) { test in
            let first = try await test.send()
            first.write(TestFrame(id: 9, token: []))
            #expect(await first.untilEnd() == reply(2, 0))
            _ = try await test.control("binary empty-token named")
            let second = try await test.send()
            second.write(TestFrame(id: 9, token: []))
            #expect(await second.untilEnd() == reply(2, 9))
        }
    }

    @Test func `options switch TLS and authentication off`() async throws {
        let options = SimulatorOptions.binary {
            $0.usesTLS = false
            $0.authentication = .none
        }
        try await TestGateway.run(options) { test in
            let sender = try await test.send()
            sender.write(.good(1), .bad(2))
            #expect(await sender.untilEnd() == reply(8, 2))
            #expect(try test.ledger().map { $0["topic"] } == [nil, nil])
        }
    }

    private nonisolated func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = Array(hexadecimal.filter { $0 != " " })
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16)! }
    }
}
