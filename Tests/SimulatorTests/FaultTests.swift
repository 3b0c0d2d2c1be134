import EventLoop
import LoopTesting
import Simulator
import Testing

@Suite struct FaultTests {
    @Test(arguments: ["latency 60ms", "latency 60ms-80ms", "latency p50=60ms p99=61ms"])
    func `latency delays responses`(command: String) async throws {
        try await TestGateway.run { test in
            let client = try await test.connectAndStart()
            _ = try await test.control(command)
            let start = ContinuousClock.now
            let endings = try await client.pushes(10)
            #expect(endings == Array(repeating: .response(200), count: 10))
            #expect(ContinuousClock.now - start >= .milliseconds(45))
            #expect(try test.ledger().count == 11)
        }
    }

    @Test func `GOAWAY comes every N requests, with the exact last stream`() async throws {
        try await TestGateway.run(.with { $0.faults = ["goaway 5 reason=Shutdown"] }) { test in
            let client = try await test.connectAndStart()
            let endings = try await client.pushes(10)
            #expect(endings.prefix(4) == Array(repeating: .response(200), count: 4)[...])
            #expect(endings.dropFirst(4).allSatisfy { $0 == .closed(code: 7, unprocessed: true) })
            #expect(client.goAways == [#"9 {"reason":"Shutdown"}"#])
            await client.until { client.end != nil }
            #expect(try test.ledger().filter { $0["status"] == "200" }.count == 5)
        }
    }

    @Test func `an announced GOAWAY comes in two frames`() async throws {
        try await TestGateway.run { test in
            let client = try await test.connectAndStart()
            _ = try await test.control("silence 100%")
            async let hanging = client.push()
            #expect(await until { test.gateway.counters.silentStreams == 1 })
            _ = try await test.control("goaway now announced")
            await client.until { client.goAways.count == 2 }
            #expect(client.goAways == ["2147483647 ", "3 "])
            client.close()
            _ = try await hanging
        }
    }

    @Test func `too many streams end the connection with a reason`() async throws {
        try await TestGateway.run(.with { $0.usesTLS = false }) { test in
            let stream = try await test.connectRaw()
            var received: [UInt8] = []
            stream.onBytes = { received += $0 }
            let settings: [[UInt8]] = [[0, 0, 0, 4, 0, 0, 0, 0, 0], [0, 0, 0, 4, 1, 0, 0, 0, 0]]
            // ":method: POST", ":scheme: https" and ":path: /" in HPACK.
            // Before the first valid provider token the gateway allows only one stream.
            let requests: [[UInt8]] = [1, 3].map { [0, 0, 3, 1, 4, 0, 0, 0, $0, 0x83, 0x87, 0x84] }
            let frames =
                Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + (settings + requests).flatMap(\.self)
            frames.withUnsafeBytes { stream.write($0) }
            let text = "Maximum active streams violated for this endpoint."
            #expect(await until { String(decoding: received, as: UTF8.self).contains(text) })
            stream.close()
        }
    }

    @Test func `a header list above 8,000 bytes closes only its stream`() async throws {
        try await TestGateway.run { test in
            let client = try await test.connectAndStart()
            let long = ("x-filler", String(repeating: "y", count: 8_000))
            guard case .closed = try await client.push([long]) else {
                Issue.record("it was answered")
                return
            }
            #expect(
                try await client.push([("x-filler", String(repeating: "y", count: 7_000))]) == .response(200))
            #expect(client.goAways == [])
        }
    }

    @Test func `a push with REFUSED_STREAM was not processed`() async throws {
        try await TestGateway.run { test in
            let client = try await test.connectAndStart()
            _ = try await test.control("refuse 100%")
            #expect(try await client.push() == .closed(code: 7, unprocessed: true))
            _ = try await test.control("refuse off")
            #expect(try await client.push() == .response(200))
            #expect(try test.ledger().map { $0["reason"] } == [nil, "REFUSED_STREAM", nil])
            #expect(test.gateway.counters.refusedStreams == 1)
        }
    }

    @Test func `a push with another reset may have been processed`() async throws {
        try await TestGateway.run { test in
            let client = try await test.connectAndStart()
            _ = try await test.control("reset 100% code=8")
            #expect(try await client.push() == .closed(code: 8, unprocessed: false))
            _ = try await test.control("reset 1 processed")
            #expect(try await client.push() == .closed(code: 2, unprocessed: false))
            let ledger = try test.ledger()
            #expect(ledger.map { $0["status"] } == ["200", "0", "200"])
            #expect(ledger.map { $0["reason"] } == [nil, "RST_STREAM 8", nil])
            #expect(ledger.map { $0["lost"] } == [nil, nil, "1"])
        }
    }

    @Test func `a configured share of the requests gets no response`() async throws {
        try await TestGateway.run { test in
            let client = try await test.connectAndStart()
            _ = try await test.control("silence 50%")
            let all = Loop.task { try await client.pushes(100) }
            await client.until {
                test.gateway.counters.requests == 101
                    && client.openStreams == test.gateway.counters.silentStreams
            }
            let silent = test.gateway.counters.silentStreams
            #expect((20...80).contains(silent))
            client.close()
            let endings = try await all.value
            #expect(endings.filter { $0 == .response(200) }.count == 100 - silent)
        }
    }

    @Test func `a connection is reset after N requests or now`() async throws {
        try await TestGateway.run { test in
            let first = try await test.connectAndStart()
            let second = try await test.connectAndStart()
            _ = try await test.control("cut 3")
            #expect(try await first.push() == .response(200))
            guard case .closed(_, unprocessed: false) = try await first.push() else {
                Issue.record("not cut")
                return
            }
            #expect(first.end != nil)
            #expect(try await second.push() == .response(200))
            _ = try await test.control("cut now")
            await second.until { second.end != nil }
            #expect(test.gateway.counters.cuts == 2)
        }
    }

    @Test func `the answer fault gives all requests the same response for a time`() async throws {
        try await TestGateway.run { test in
            let client = try await test.connectAndStart()
            _ = try await test.control("answer 503")
            #expect(try await client.push() == .response(503, "ServiceUnavailable"))
            _ = try await test.control("answer 429 10s reason=Busy retry-after=7")
            #expect(
                try await client.push()
                    == .responded(
                        status: 429, body: #"{"reason":"Busy"}"#, id: TestClient.id, retryAfter: 7))
            _ = try await test.control("answer 500 1ms")
            try await Loop.sleep(for: .milliseconds(5))
            #expect(try await client.push() == .response(200))
        }
    }

    @Test func `an expired provider token lowers the limit to one stream`() async throws {
        try await TestGateway.run { test in
            let client = try await test.connectAndStart()
            _ = try await test.control("expired-token 1m")
            #expect(try await client.push() == .response(403, "ExpiredProviderToken"))
            await client.until { client.limit == 1 }
            _ = try await test.control("expired-token off")
            #expect(try await client.push() == .response(200))
            #expect(client.limits == [1, 1_000, 1, 1_000])
        }
    }

    @Test func `an option keeps the stream limit after an expired provider token`() async throws {
        try await TestGateway.run(.with { $0.limitDropsAfterExpiredToken = false }) { test in
            let client = try await test.connectAndStart()
            _ = try await test.control("expired-token 1m")
            #expect(try await client.push() == .response(403, "ExpiredProviderToken"))
            _ = try await test.control("expired-token off")
            #expect(try await client.push() == .response(200))
            #expect(client.limits == [1, 1_000])
        }
    }

    @Test func `a client that writes after GOAWAY gets the responses that GOAWAY covers`() async throws {
        try await TestGateway.run { test in
            let client = try await test.connectAndStart()
            _ = try await test.control("silence 100%")
            let hanging = Loop.task { try await client.push() }
            try await test.until { test.gateway.counters.silentStreams == 1 }
            _ = try await test.control("silence off")
            _ = try await test.control("latency 200ms")
            let pushes = Loop.task { try await client.pushes(20) }
            try await test.until { test.gateway.counters.requests == 22 }
            client.isReading = false
            _ = try await test.control("goaway now reason=Shutdown")
            client.cancel(stream: 3)
            try await test.until { test.gateway.openStreams == 0 }
            // The gateway has sent everything, but must not close yet: if bytes of the client arrive at a closed socket, TCP
            // resets the connection.
            try await client.writeUnknownFrames(bytes: 200_000)
            client.isReading = true
            #expect(try await pushes.value == Array(repeating: .response(200), count: 20))
            await client.until { client.end != nil }
            #expect(client.end == "closed by the peer")
            #expect(client.goAways == [#"43 {"reason":"Shutdown"}"#])
            _ = try await hanging.value
        }
    }

    @Test func `the stream limit changes on open connections`() async throws {
        try await TestGateway.run { test in
            let client = try await test.connectAndStart()
            _ = try await test.control("streams 3")
            await client.until { client.limit == 3 }
            #expect(try await client.pushes(10) == Array(repeating: .response(200), count: 10))
            let later = try await test.connectAndStart()
            #expect(later.limits == [1, 3])
        }
    }

    @Test func `a stream above a limit that the client does not know yet is refused and noted`()
        async throws
    {
        try await TestGateway.run { test in
            let client = try await test.connectAndStart()
            _ = try await test.control("silence 100%")
            async let hanging = client.push()
            #expect(await until { test.gateway.counters.silentStreams == 1 })
            // The gateway lowers the limit and the client sends a push in the same turn of the event loop, so the client does not
            // know the new limit yet.
            _ = try test.gateway.carryOut(try FaultCommand("streams 1", now: 0))
            #expect(try await client.push() == .closed(code: 7, unprocessed: true))
            #expect(test.gateway.counters.refusedStreams == 1 && test.gateway.counters.requests == 3)
            let notes = try test.ledger()
            try #require(notes.map { $0["stream"] } == ["1", "3", "5"])
            #expect(notes[2]["status"] == "0" && notes[2]["reason"] == "REFUSED_STREAM")
            #expect(notes[2]["token"] == nil && notes[2]["apns_id"] == nil)
            client.close()
            _ = try await hanging
        }
    }

    @Test func `an option lowers the stream limit after a refusal`() async throws {
        try await TestGateway.run(.with { $0.limitDropsAfterRefusal = true }) { test in
            let client = try await test.connectAndStart()
            #expect(try await client.push(token: "xx") == .response(400, "BadDeviceToken"))
            await client.until { client.limit == 1 }
            #expect(try await client.push() == .response(200))
            await client.until { client.limit == 1_000 }
        }
    }

    @Test func `connections are closed right after the handshake`() async throws {
        try await TestGateway.run { test in
            _ = try await test.control("close-new on")
            let client = try await test.connect()
            await client.until { client.end != nil }
            #expect(test.gateway.counters.closedAtOnce == 1)
            _ = try await test.control("close-new off")
            _ = try await test.connectAndStart()
        }
    }

    @Test func `too many refusals end a connection`() async throws {
        try await TestGateway.run(.with { $0.refusalsPerConnection = 2 }) { test in
            let bad = try await test.connectAndStart()
            _ = try await bad.push(token: "xx")
            _ = try await bad.push(token: "xx")
            await bad.until { bad.end != nil }
            #expect(bad.goAways == [#"5 {"reason":"BadDeviceToken"}"#])
        }
    }

    @Test func `an idle timeout closes a connection`() async throws {
        // The idle timeout is long enough for the first response, even if a thousand tests share the event loop.
        try await TestGateway.run(.with { $0.idleTimeout = .seconds(5) }) { test in
            let idle = try await test.connectAndStart()
            await idle.until { idle.end != nil }
            #expect(idle.goAways == [#"1 {"reason":"IdleTimeout"}"#])
        }
    }

    @Test func `pushes to all tokens together are throttled above a rate`() async throws {
        try await TestGateway.run { test in
            let client = try await test.connectAndStart()
            _ = try await test.control("rate 20")
            let start = ContinuousClock.now
            var endings: [TestClient.Ending] = []
            for round in 0..<4 {
                endings += try await client.pushes(50, token: String(repeating: "a\(round)", count: 32))
            }
            let accepted = endings.count { $0 == .response(200) }
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            #expect(accepted >= 2 && Double(accepted) <= 20 * seconds + 3)
            #expect(endings.count { $0 == .response(429, "TooManyRequests") } == 200 - accepted)
            _ = try await test.control("rate off")
            #expect(try await client.push() == .response(200))
        }
    }

    @Test func `pushes to one token are throttled above its rate`() async throws {
        try await TestGateway.run(.with { $0.pushesPerTokenAndSecond = 2 }) { test in
            let client = try await test.connectAndStart()
            let endings = try await client.pushes(20)
            #expect(endings.contains(.response(429, "TooManyRequests")))
            #expect(try await client.push(token: String(repeating: "bb", count: 32)) == .response(200))
        }
    }

    @Test func `a token can be configured to get no response`() async throws {
        try await TestGateway.run { test in
            let client = try await test.connectAndStart()
            let hanging = Loop.task {
                try await client.push(token: "0ff00000" + String(repeating: "1", count: 56))
            }
            #expect(await until { test.gateway.counters.silentStreams == 1 })
            #expect(try await client.push() == .response(200))
            client.close()
            #expect(try await hanging.value == .closed(code: 8, unprocessed: false))
        }
    }
}
