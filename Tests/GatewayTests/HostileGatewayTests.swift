import EventLoop
import LoopTesting
import Testing
import Transport

@testable import Gateway

/// Checks connections to gateways that send frames but no responses.
@Suite(.timeLimit(.minutes(5))) struct HostileGatewayTests {
    @Loop private func run(
        _ gateway: HostileGateway, _ body: @Loop (Sender) async throws -> Void
    ) async throws {
        let sender = Sender()
        sender.pool.apply(try gateway.plan(timeout: .seconds(1)))
        defer { sender.pool.closeAll() }
        try await body(sender)
    }

    private static let silentConducts: [HostileGateway.Behaviour] = [
        .pings, .emptyData, .drippingBody, .shutWindow, .noStreams, .bytewise, .silence, .announcedGoAway,
    ]

    @Test(arguments: silentConducts, [0, 5])
    func `a connection without responses is replaced and every push is delivered`(
        conduct: HostileGateway.Behaviour, responses: Int
    ) async throws {
        try await onLoop { () async throws -> Void in
            let gateway = try await HostileGateway(conduct, misbehaving: 1, responses: responses)
            try await self.run(gateway) { sender in
                sender.resendsUnknown = true
                sender.push(0..<100)
                try await sender.finish()
                #expect(sender.isBalanced && sender.deliveredPushes == Set(0..<100))
                #expect(sender.pool.dials == 2 && gateway.connections == 2)
                // The pool also closes the old connection, which the gateway never closes.
                #expect(await until { sender.ended.all.count == 1 && sender.pool.connections.count == 1 })
            }
        }
    }

    @Test(arguments: [HostileGateway.Behaviour.goAway, .announcedGoAway, .silence, .noStreams])
    func `connections without a response are dialled with growing delays`(
        conduct: HostileGateway.Behaviour
    ) async throws {
        try await onLoop { () async throws -> Void in
            let gateway = try await HostileGateway(conduct, misbehaving: .max)
            try await self.run(gateway) { sender in
                sender.resendsUnknown = true
                sender.push(0..<20)
                #expect(await until { sender.pool.isStalled })
                // A delay must end before each dial except the first one. On a slow machine there may be more than three
                // dials already.
                let (dials, delays) = (sender.pool.dials, sender.pausesEnded.all.count)
                #expect(dials >= 3 && dials <= delays + 1 && sender.delivered == 0, "\(dials), \(delays)")
                let silent = gateway.acceptances
                #expect(silent.count >= 3)
                var shortest = DialSettings().firstPause * (1 - DialSettings().jitter)
                for (earlier, later) in zip(silent, silent.dropFirst()) {
                    #expect(later - earlier >= shortest, "\(later - earlier)")
                    shortest = min(shortest * 2, .seconds(5))
                }
                gateway.misbehaving = 0
                try await sender.finish()
                #expect(sender.isBalanced && sender.deliveredPushes == Set(0..<20))
                #expect(!sender.pool.isStalled && gateway.connections > silent.count)
            }
        }
    }

    @Test(arguments: [0, 5]) func `a gateway that refuses every stream is tried with single streams`(
        responses: Int
    ) async throws {
        try await onLoop { () async throws -> Void in
            let gateway = try await HostileGateway(.refusals, misbehaving: .max, responses: responses)
            try await self.run(gateway) { sender in
                sender.push(0..<1000)
                #expect(await until { sender.pool.isStalled })
                // The gateway has got the pushes that were open when the first refusals arrived, and after that one push
                // after each delay.
                #expect(gateway.requests <= 50 + 50 + 5, "\(gateway.requests)")
                #expect(gateway.connections == 1 && sender.delivered == responses)
                // One more push may be in flight, so the test waits.
                #expect(await until { sender.unprocessed == gateway.requests - responses })
                #expect(sender.pool.connections.map { $0.isSlowed && $0.refusesStreams } == [true])
            }
        }
    }

    @Test func `an idle connection is pinged at the interval of the plan`() async throws {
        try await onLoop { () async throws -> Void in
            let gateway = try await HostileGateway(.silence, misbehaving: 0)
            let sender = Sender()
            var plan = try gateway.plan(timeout: .seconds(20))
            plan.keepAlive = .milliseconds(100)
            sender.pool.apply(plan)
            defer { sender.pool.closeAll() }
            sender.push(0..<1)
            try await sender.finish()
            #expect(await until { gateway.pings >= 3 })
            #expect(gateway.requests == 1 && gateway.connections == 1)
        }
    }

    @Test func `a gateway that refused every stream gets all streams after it responds`()
        async throws
    {
        try await GatewayFixture.run {
            $0.faults = ["refuse 100%"]
        } _: { farm in
            farm.sender.pool.apply(try farm.plan())
            farm.sender.push(0..<1000)
            #expect(await until { farm.sender.pool.isStalled })
            let refused = farm.counters.refusedStreams
            #expect(refused < 40, "\(refused)")
            try farm.order("refuse off")
            try await farm.sender.finish()
            #expect(farm.sender.isBalanced && farm.sender.delivered == 1000)
            #expect(farm.counters.accepted == 1000 && farm.counters.connections == 1)
            #expect(farm.counters.refusedStreams <= refused + 2 && !farm.sender.pool.isStalled)
        }
    }

    @Test func `a gateway that refuses some streams and responds to others is not paused`() async throws {
        try await GatewayFixture.run {
            $0.faults = ["refuse 30%", "latency 5ms"]
        } _: { farm in
            farm.sender.pool.apply(try farm.plan())
            farm.sender.push(0..<3000)
            try await farm.sender.finish()
            #expect(farm.sender.isBalanced && farm.counters.accepted == 3000)
            // The gateway refuses three of ten streams, so each push is sent 1.43 times on average: about 1,290 refusals.
            // The farm must not reduce its streams.
            #expect(farm.counters.refusedStreams < 1800 && farm.counters.connections == 1)
            #expect(farm.sender.mostOpen > 500)
        }
    }
}
