import APNs
import BinaryProtocol
import EventLoop
import LoopTesting
import OpenSSL
import Simulator
import Testing
import Transport

@testable import Gateway

/// Sends pushes to a simulated gateway, which counts the accepted pushes.
@Suite(.timeLimit(.minutes(5))) struct PoolTests {
    @Test func `every push is accepted once over one connection`() async throws {
        try await GatewayFixture.run { farm in
            farm.sender.pool.apply(try farm.plan())
            farm.sender.push(0..<3000)
            try await farm.sender.finish()
            #expect(farm.sender.isBalanced && farm.sender.delivered == 3000)
            #expect(farm.counters.accepted == 3000 && farm.repeated == 0)
            #expect(farm.counters.connections == 1 && farm.counters.protocolErrors == 0)
            #expect(farm.counters.refusedStreams == 0)
            #expect(farm.sender.mostOpen > 1 && farm.sender.mostOpen <= 1000)
            #expect(farm.sender.pool.openStreams == 0)
        }
    }

    @Test func `the first push is sent alone until it proves the provider token`() async throws {
        try await GatewayFixture.run {
            $0.streams = 50
            $0.faults = ["latency 2ms"]
        } _: { farm in
            var mostBefore = 0
            farm.sender.pool.apply(try farm.plan())
            farm.sender.onSettled = { _, _ in
                if farm.sender.settledCount == 1 { mostBefore = farm.sender.mostOpen }
            }
            farm.sender.push(0..<200)
            try await farm.sender.finish()
            #expect(mostBefore == 1 && farm.sender.mostOpen == 50)
            #expect(farm.sender.isBalanced && farm.counters.accepted == 200 && farm.repeated == 0)
        }
    }

    /// For each kind of refusal: the command that sets the gateway's response, and the fields that the sender must get.
    private static let refusals: [(order: String, verdict: Verdict, status: UInt16, retryAfter: UInt32?)] = [
        (
            "400 reason=BadDeviceToken",
            .tokenInvalid(reason: "BadDeviceToken", timestamp: nil),
            400, nil
        ),
        ("413", .requestWrong(reason: "PayloadTooLarge"), 413, nil),
        ("400 reason=TopicDisallowed", .configurationWrong(reason: "TopicDisallowed"), 400, nil),
        ("403 reason=InvalidProviderToken", .credentialsWrong(reason: "InvalidProviderToken"), 403, nil),
        ("403", .credentialsStale(reason: "ExpiredProviderToken"), 403, nil),
        (
            "429 reason=TooManyProviderTokenUpdates",
            .authenticationSlow(reason: "TooManyProviderTokenUpdates"), 429, nil
        ),
        ("429 retry-after=7", .throttled(reason: "TooManyRequests"), 429, 7),
        ("500", .serverTrouble(reason: "InternalServerError", reconnect: false), 500, nil),
        ("503 reason=Shutdown", .serverTrouble(reason: "Shutdown", reconnect: true), 503, nil),
        ("400 reason=IdleTimeout", .connectionOver(reason: "IdleTimeout"), 400, nil),
        ("418 reason=Teapot", .requestWrong(reason: "Teapot"), 418, nil),
    ]

    @Test(arguments: refusals.indices) func `a refusal carries the gateway's response`(row: Int) async throws
    {
        let (order, verdict, status, retryAfter) = Self.refusals[row]
        try await GatewayFixture.run { farm in
            try farm.order("answer \(order)")
            farm.sender.pool.apply(try farm.plan(generation: 5))
            farm.sender.push(0..<20)
            try await farm.sender.finish()
            #expect(farm.sender.isBalanced && farm.counters.accepted == 0)
            #expect(farm.sender.refusals.count == 20)
            for refusal in farm.sender.refusals {
                #expect(refusal.verdict == verdict && refusal.status == status)
                #expect(refusal.retryAfter == retryAfter && refusal.generation == 5)
            }
        }
    }

    @Test func `unregistered tokens have their time and do not stop other pushes`() async throws {
        try await GatewayFixture.run { farm in
            // In the simulator, a token that begins with DEAD0001 has been unregistered since the time in the next four
            // bytes. 0x6553F100 is a time in 2023.
            farm.sender.prefix = { $0 % 10 == 0 ? [0xDE, 0xAD, 0x00, 0x01, 0x65, 0x53, 0xF1, 0x00] : [] }
            farm.sender.pool.apply(try farm.plan())
            farm.sender.push(0..<500)
            try await farm.sender.finish()
            #expect(farm.sender.isBalanced && farm.counters.accepted == 450 && farm.sender.delivered == 450)
            #expect(farm.sender.refusals.count == 50)
            for refusal in farm.sender.refusals {
                let expected = Verdict.tokenInvalid(
                    reason: "Unregistered", timestamp: 0x6553_F100 * 1000)
                #expect(refusal.verdict == expected && refusal.status == 410)
            }
        }
    }

    @Test func `a changed limit of streams applies to pushes in flight`() async throws {
        try await GatewayFixture.run {
            $0.faults = ["latency 1ms"]
        } _: { farm in
            farm.sender.pool.apply(try farm.plan())
            farm.sender.push(0..<3000)
            for (settled, limit) in [(500, 1), (900, 100), (1500, 0), (1500, 7), (1800, 1000)] {
                try await farm.sender.settled(settled)
                try farm.order("streams \(limit)")
                if limit == 0 {
                    // With the limit 0, all streams must end: the pushes in flight get outcomes, and no new stream is opened.
                    #expect(await until { farm.sender.pool.openStreams == 0 && farm.sender.pool.limit == 0 })
                }
                if limit == 7 {
                    #expect(await until { farm.sender.pool.limit == 7 && farm.sender.pool.openStreams <= 7 })
                }
            }
            try await farm.sender.finish()
            #expect(farm.sender.isBalanced && farm.sender.unknown == 0)
            #expect(farm.counters.accepted == 3000 && farm.repeated == 0 && farm.counters.connections == 1)
        }
    }

    @Test func `a limit that falls at each refusal is obeyed`() async throws {
        try await GatewayFixture.run {
            $0.limitDropsAfterRefusal = true
        } _: { farm in
            farm.sender.prefix = { $0 % 7 == 0 ? [0xBA, 0xD0, 0, 0] : [] }
            farm.sender.pool.apply(try farm.plan())
            farm.sender.push(0..<700)
            try await farm.sender.finish()
            #expect(farm.sender.isBalanced && farm.sender.unknown == 0)
            #expect(farm.counters.accepted == 600 && farm.repeated == 0)
        }
    }

    @Test(arguments: ["goaway 100", "goaway 100 announced", "goaway 100 reason=Shutdown", "refuse 20%"])
    func `unprocessed pushes are sent again and no push is sent twice`(fault: String) async throws {
        try await GatewayFixture.run {
            $0.faults = [fault, "latency 0ms-2ms"]
        } _: { farm in
            farm.sender.pool.apply(try farm.plan())
            farm.sender.push(0..<1500)
            try await farm.sender.finish()
            #expect(farm.sender.isBalanced && farm.sender.delivered == 1500)
            #expect(farm.sender.unknownCauses.isEmpty)
            #expect(farm.counters.accepted == 1500 && farm.repeated == 0)
            if fault.hasPrefix("goaway") {
                // A gateway that first announces a GOAWAY still responds to the requests in flight. So each connection
                // delivers more pushes, and fewer connections are enough.
                let fewest = fault.contains("announced") ? 2 : 10
                #expect(farm.counters.connections >= fewest && farm.sender.spent.all.count >= fewest)
                #expect(farm.sender.spent.all.allSatisfy { $0.hasPrefix("GOAWAY") })
                if fault.contains("Shutdown") { #expect(farm.sender.spent.all[0] == "GOAWAY Shutdown") }
            } else {
                #expect(
                    farm.sender.unprocessed == farm.counters.refusedStreams && farm.counters.connections == 1)
            }
        }
    }

    @Test(arguments: ["", " processed"]) func `a push on a reset stream has an unknown outcome`(
        processed: String
    ) async throws {
        try await GatewayFixture.run {
            $0.faults = ["reset 20%\(processed)"]
        } _: { farm in
            farm.sender.pool.apply(try farm.plan())
            farm.sender.push(0..<1000)
            try await farm.sender.finish()
            let resets = farm.counters.resetStreams
            #expect(farm.sender.isBalanced && farm.sender.unknown == resets && resets > 50)
            #expect(farm.counters.accepted == (processed.isEmpty ? 1000 - resets : 1000))
            #expect(farm.repeated == 0 && farm.counters.connections == 1)
        }
    }

    @Test func `a silent stream is reset at its deadline and its place is reused`() async throws {
        try await GatewayFixture.run {
            $0.streams = 4
        } _: { farm in
            farm.sender.pool.apply(try farm.plan(timeout: .seconds(3)))
            farm.sender.push(0..<1)
            try await farm.sender.finish()
            try farm.order("silence 100%")
            // The gateway ignores two requests. A third request without a response would end the connection.
            farm.sender.push(1..<3)
            try await farm.sender.finish()
            try farm.order("calm")
            // The client has reset the silent streams. The next pushes use all four streams, so the gateway must have freed
            // the silent streams too.
            farm.sender.push(3..<100)
            try await farm.sender.finish()
            #expect(farm.sender.isBalanced && farm.sender.unknown == 2 && farm.sender.delivered == 98)
            #expect(farm.counters.accepted == 98 && farm.repeated == 0)
            #expect(farm.counters.abandonedStreams == 2 && farm.counters.refusedStreams == 0)
            #expect(farm.counters.connections == 1 && farm.sender.mostOpen == 4)
        }
    }

    @Test func `a TCP reset leaves open pushes with an unknown outcome`() async throws {
        try await GatewayFixture.run {
            $0.streams = 10
            $0.faults = ["cut 40"]
        } _: { farm in
            farm.sender.pool.apply(try farm.plan())
            farm.sender.push(0..<300)
            try await farm.sender.finish()
            #expect(farm.sender.isBalanced && farm.counters.cuts >= 5)
            #expect(farm.sender.delivered + farm.sender.unknown == 300)
            #expect(farm.counters.accepted >= farm.sender.delivered && farm.repeated == 0)
            #expect(farm.counters.accepted <= farm.sender.delivered + farm.sender.unknown)
        }
    }

    @Test func `a gateway that closes each connection at once is not dialled in a loop`() async throws {
        try await GatewayFixture.run {
            $0.faults = ["close-new on"]
        } _: { farm in
            farm.sender.pool.apply(try farm.plan())
            farm.sender.push(0..<10)
            try await farm.sender.pausesEnded.wait(until: 2)
            // A delay must end before each dial except the first one. On a slow machine more than two delays may have ended
            // already.
            let (dials, delays) = (farm.sender.pool.dials, farm.sender.pausesEnded.all.count)
            #expect(dials <= delays + 1 && farm.sender.sends.isEmpty, "\(dials), \(delays)")
            try farm.order("calm")
            try await farm.sender.finish()
            #expect(farm.sender.isBalanced && farm.counters.accepted == 10 && farm.repeated == 0)
        }
    }

    @Test func `a connection after a long idle time is replaced at the next push`()
        async throws
    {
        try await GatewayFixture.run { farm in
            farm.sender.pool.apply(try farm.plan())
            farm.sender.push(0..<10)
            try await farm.sender.finish()
            try farm.order("goaway now reason=IdleTimeout")
            #expect(try await farm.sender.spent.next() == "GOAWAY IdleTimeout")
            _ = try await farm.sender.ended.next()
            #expect(farm.sender.pool.connections.isEmpty && farm.sender.pool.dials == 1)
            farm.sender.push(10..<20)
            try await farm.sender.finish()
            #expect(farm.sender.isBalanced && farm.counters.accepted == 20 && farm.counters.connections == 2)
        }
    }

    @Test func `a retired connection awaits its responses and then closes`() async throws {
        try await GatewayFixture.run { farm in
            farm.sender.pool.apply(try farm.plan())
            farm.sender.push(0..<1)
            try await farm.sender.finish()
            try farm.order("latency 20ms")
            farm.sender.push(1..<50)
            #expect(await until { farm.sender.pool.openStreams == 49 })
            farm.sender.pool.retireAll()
            farm.sender.push(50..<60)
            _ = try await farm.sender.ended.next()
            try await farm.sender.finish()
            #expect(farm.sender.isBalanced && farm.sender.unknown == 0 && farm.sender.delivered == 60)
            #expect(farm.counters.accepted == 60 && farm.counters.connections == 2)
        }
    }

    @Test func `a new plan replaces the connections at once`() async throws {
        try await GatewayFixture.run { farm in
            farm.sender.pool.apply(try farm.plan())
            farm.sender.push(0..<10)
            try await farm.sender.finish()
            for round in 1...3 {
                farm.sender.pool.apply(try farm.plan(generation: UInt32(round)))
                farm.sender.push(10 * round..<10 * round + 10)
                try await farm.sender.finish()
            }
            #expect(farm.sender.isBalanced && farm.counters.accepted == 40)
            #expect(farm.counters.connections == 4 && farm.sender.pausesEnded.all.isEmpty)
        }
    }

    @Test func `a plan before the first response to the old plan is used without a delay`()
        async throws
    {
        try await GatewayFixture.run { farm in
            farm.sender.pool.apply(try farm.plan())
            farm.sender.pool.needConnection()
            #expect(await until { farm.sender.pool.limit == 1 })
            farm.sender.pool.apply(try farm.plan(generation: 2))
            farm.sender.push(0..<10)
            try await farm.sender.finish()
            #expect(farm.counters.connections == 2 && farm.sender.pausesEnded.all.isEmpty)
        }
    }

    @Test func `open connections use a renewed provider token`() async throws {
        try await GatewayFixture.run {
            $0.tokenUpdateInterval = 0
        } _: { farm in
            farm.sender.pool.apply(try farm.plan(token: try farm.token(age: 3000)))
            farm.sender.push(0..<10)
            try await farm.sender.finish()
            farm.sender.pool.renew(try farm.token(age: 10), generation: 2)
            farm.sender.push(10..<20)
            try await farm.sender.finish()
            #expect(farm.sender.isBalanced && farm.counters.accepted == 20 && farm.counters.connections == 1)
            #expect(
                farm.gateway.countersJSON().contains("\"tokens_verified\":2"),
                "\(farm.gateway.countersJSON())")
        }
    }

    @Test func `with a certificate the first push need not be sent alone`() async throws {
        try await GatewayFixture.run {
            $0.faults = ["latency 2ms"]
        } _: { farm in
            let identity = try TLSIdentity(file: farm.gateway.credentials.clientPEM)
            farm.sender.pool.apply(try farm.plan(token: .some(nil), certificate: identity))
            var mostBefore = 0
            farm.sender.onSettled = { _, _ in
                if farm.sender.settledCount == 1 { mostBefore = farm.sender.mostOpen }
            }
            farm.sender.push(0..<100)
            try await farm.sender.finish()
            #expect(mostBefore == 100)
            #expect(farm.sender.isBalanced && farm.counters.accepted == 100 && farm.counters.connections == 1)
        }
    }

    @Test func `one binary connection is kept free of bulk while another is possible`()
        async throws
    {
        try await GatewayFixture.run {
            $0.binaryPort = 0
        } _: { farm in
            let identity = try TLSIdentity(file: farm.gateway.credentials.clientPEM)
            let pool = farm.sender.pool
            pool.apply(
                try farm.plan(
                    token: .some(nil), certificate: identity,
                    wire: .binary(BinarySettings(quietTime: .seconds(300), asksIfRead: false)),
                    connections: 3))
            #expect(
                await until {
                    pool.needConnection()
                    return pool.connections.count == 3
                })
            let reserved = try #require(pool.roomiest(for: .high))
            let busy = try #require(pool.roomiest(for: .bulk))
            let idle = try #require(pool.connections.first { $0 !== reserved && $0 !== busy })
            farm.sender.connection = busy
            farm.sender.push(0..<1)
            #expect(await until { busy.openStreams == 1 })
            reserved.close()
            _ = try await farm.sender.ended.next()
            #expect(pool.roomiest(for: .high) === idle)
            #expect(pool.roomiest(for: .bulk) === busy)
            busy.close()
            _ = try await farm.sender.ended.next()
            #expect(await until { !pool.hasFailed })
            #expect(pool.roomiest(for: .bulk) == nil && pool.roomiest(for: .high) === idle)
            pool.most = 1
            #expect(pool.roomiest(for: .bulk) === idle, "there can be no other one")
        }
    }

    @Test func `a gateway of an unknown authority gets no push`() async throws {
        try await GatewayFixture.run { farm in
            let other = try ThrowAwayAuthority().certificatePEM
            farm.sender.pool.apply(try farm.plan(trust: .authorities(other)))
            farm.sender.push(0..<1)
            let failure = try await farm.sender.dialFailures.next()
            #expect(failure.reason.contains("not trusted") && !failure.refusedByPeer)
            #expect(farm.sender.pool.refusalsInARow == 0 && farm.counters.requests == 0)
        }
    }

    @Test(arguments: TLSVersion.allCases) func `a refused client certificate is reported as such`(
        version: TLSVersion
    ) async throws {
        try await GatewayFixture.run { farm in
            let authority = try ThrowAwayAuthority()
            var settings = ServerSettings(
                identity: try authority.server(names: ["localhost"]), applicationProtocols: ["h2"],
                clientCertificates: .required(authorities: authority.certificatePEM))
            settings.maximumVersion = version
            let listener = try await Listener(
                .tcp(host: "127.0.0.1", port: 0), tls: try TLSContext(server: settings)
            ) { _ in }
            let stranger = try TLSIdentity(file: farm.gateway.credentials.clientPEM)
            var plan = try farm.plan(
                token: .some(nil), trust: .authorities(authority.certificatePEM), certificate: stranger)
            plan.port = listener.address.port
            farm.sender.pool.apply(plan)
            farm.sender.push(0..<1)
            try await farm.sender.dialFailures.wait(until: 3)
            #expect(farm.sender.dialFailures.all.allSatisfy { $0.refusedByPeer })
            // On a slow machine more than three dials may have been refused already, and another dial may have started.
            let failures = farm.sender.dialFailures.all.count
            #expect(farm.sender.pool.refusalsInARow == failures)
            #expect((failures...failures + 1).contains(farm.sender.pool.dials))
        }
    }

    @Test func `a connection goes through a proxy`() async throws {
        try await GatewayFixture.run { farm in
            let gateway = Endpoint.tcp(host: "127.0.0.1", port: farm.gateway.port)
            var streams: [ByteStream] = []
            let proxy = try await Listener(.tcp(host: "127.0.0.1", port: 0), tls: nil) { client in
                streams.append(client)
                client.isReading = false
                Loop.task {
                    let upstream = try await Dial(gateway, timeout: .seconds(20)).connect()
                    streams.append(upstream)
                    upstream.onBytes = { client.write($0) }
                    upstream.onEnd = { _ in client.close() }
                    client.onEnd = { _ in upstream.close() }
                    client.isReading = true
                    var hasAsked = false
                    client.onBytes = { bytes in
                        if hasAsked { return upstream.write(bytes) }
                        hasAsked = true
                        Array("HTTP/1.1 200 OK\r\n\r\n".utf8).withUnsafeBytes { client.write($0) }
                    }
                }
            }
            var plan = try farm.plan()
            plan.proxy = .tcp(host: "127.0.0.1", port: proxy.address.port)
            farm.sender.pool.apply(plan)
            farm.sender.push(0..<300)
            try await farm.sender.finish()
            #expect(farm.sender.isBalanced && farm.counters.accepted == 300 && streams.count == 2)
            farm.sender.pool.closeAll()
        }
    }

    @Test func `closing all connections forgets a dial in progress`() async throws {
        try await GatewayFixture.run { farm in
            let pool = farm.sender.pool
            pool.apply(try farm.plan())
            #expect(pool.needConnection() && pool.dialling == 1)
            pool.closeAll()
            #expect(pool.dialling == 0 && !pool.needConnection(), "without a plan no gateway is dialled")
            pool.apply(try farm.plan())
            farm.sender.push(0..<20)
            try await farm.sender.finish()
            #expect(farm.sender.isBalanced && farm.counters.accepted == 20)
            #expect(pool.connections.count == 1 && pool.dials == 2, "the first dial opens no connection")
        }
    }

    @Test func `several connections share the load and their number is bounded`() async throws {
        try await GatewayFixture.run {
            $0.streams = 10
            $0.faults = ["latency 2ms"]
        } _: { farm in
            farm.sender.pool.apply(try farm.plan(connections: 3))
            farm.sender.push(0..<1000)
            try await farm.sender.finish()
            #expect(farm.sender.isBalanced && farm.counters.accepted == 1000 && farm.repeated == 0)
            #expect(farm.counters.connections == 3 && farm.sender.mostOpen == 30)
        }
    }
}
