import APNs
import BinaryProtocol
import EventLoop
import OpenSSL
import Simulator
import Testing

@Suite struct FeedbackTests {
    @Test func `the service lists each unregistered token once, with its time`() async throws {
        try await TestGateway.run(.binary()) { test in
            #expect(try await test.feedback() == [])
            let since = TestFrame.starting(0xdead_0001)
            let sender = try await test.send()
            sender.write(
                TestFrame(id: 1, token: since), .good(2), TestFrame(id: 3, token: since), .bad(4),
                TestFrame(id: 5, token: TestFrame.starting(0xfade_0000)))
            #expect(await sender.untilEnd() == reply(8, 4))
            // Neither an invalid token nor a discarded push makes an entry in the list.
            #expect(
                try self.tuples(try await test.feedback()) == [FeedbackTuple(time: 0x1111_1111, token: since)]
            )
            #expect(try await test.feedback() == [])
            let again = try await test.send()
            again.write(TestFrame(id: 1, token: since), .bad(2))
            _ = await again.untilEnd()
            #expect(try self.tuples(try await test.feedback()).count == 1)
            let counters = try await test.control("counters")["feedback"] as? [String: Int]
            #expect(counters?["connections"] == 4)
            #expect(counters?["listed"] == 2 && counters?["read"] == 2 && counters?["waiting"] == 0)
        }
    }

    @Test func `a certificate gets the tokens of its topic and tokens without a topic`() async throws {
        try await TestGateway.run(.binary()) { test in
            let other = try test.authority().client(bundle: "com.example.other")
            let sender = try await test.send()
            sender.write(TestFrame(id: 1, token: TestFrame.starting(0xdead_0000)), .bad(2))
            _ = await sender.untilEnd()
            #expect(try await test.feedback(certificate: other) == [])
            _ = try await test.control("feedback add 0a0b 77")
            _ = try await test.control("feedback add 0c 1970-01-01T00:01:18Z topic=com.example.demo")
            #expect(
                try self.tuples(try await test.feedback(certificate: other))
                    == [FeedbackTuple(time: 77, token: [10, 11])])
            let own = try self.tuples(try await test.feedback())
            #expect(own.map(\.token) == [TestFrame.starting(0xdead_0000), [12]])
        }
    }

    @Test func `a reader gets a hundred thousand tokens once each`() async throws {
        try await TestGateway.run(.binary()) { test in
            _ = try await test.control("feedback fill 100000")
            let tuples = try self.tuples(try await test.feedback())
            #expect(tuples.count == 100_000)
            #expect(Set(tuples.map(\.token)).count == 100_000)
            #expect(tuples.allSatisfy { $0.token.count == 32 })
            #expect(try await test.feedback() == [])
        }
    }

    @Test func `two readers share the list, and each token goes to one reader`() async throws {
        try await TestGateway.run(.binary()) { test in
            _ = try await test.control("feedback fill 50000")
            async let first = test.feedback()
            async let second = test.feedback()
            let both = try self.tuples(try await first) + self.tuples(try await second)
            #expect(both.count == 50_000 && Set(both.map(\.token)).count == 50_000)
        }
    }

    @Test(arguments: [false, true])
    func `the cut fault ends the stream in the middle of a tuple`(isReset: Bool) async throws {
        try await TestGateway.run(.binary { $0.faults.append("feedback cut 3\(isReset ? " reset" : "")") }) {
            test in
            _ = try await test.control("feedback fill 10")
            #expect(try await test.feedback().count == 3 * 38 + 19)
            _ = try await test.control("feedback cut off")
            #expect(try self.tuples(try await test.feedback()).count == 6)
            let counters = try await test.control("counters")["feedback"] as? [String: Int]
            #expect(counters?["cuts"] == 1)
        }
    }

    @Test func `the stay fault keeps the connection open after the last tuple`() async throws {
        try await TestGateway.run(.binary { $0.faults.append("feedback stay on") }) { test in
            _ = try await test.control("feedback fill 2")
            let reader = try await test.send(to: test.gateway.feedbackPort!)
            await reader.until { reader.received.count == 76 }
            for _ in 0..<20 { _ = try await test.control("faults") }
            #expect(reader.end == nil)
        }
    }

    @Test func `the think fault delays the first tuple`() async throws {
        try await TestGateway.run(.binary { $0.faults.append("feedback think 200ms") }) { test in
            _ = try await test.control("feedback fill 2")
            let began = ContinuousClock.now
            #expect(try self.tuples(try await test.feedback()).count == 2)
            #expect(ContinuousClock.now - began >= .milliseconds(200))
        }
    }

    private nonisolated func tuples(_ bytes: [UInt8]) throws -> [FeedbackTuple] {
        var reader = FeedbackTuple.Reader()
        var tuples: [FeedbackTuple] = []
        try bytes.withUnsafeBytes { try reader.read($0) { tuples.append($0) } }
        #expect(reader.pending == 0)
        return tuples
    }
}
