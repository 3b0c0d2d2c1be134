import ControlChannel
import EventLoop
import LoopTesting
import PushModel
import Testing

@testable import Delivery
@testable import Simulator
@testable import Worker

/// Follows pushes from checkout to report. The gateway counts accepted pushes, and Redis has the reported outcomes.
@Suite(.timeLimit(.minutes(5))) struct AppSenderTests {
    @Test func `a backlog larger than the window is sent and reported completely`() async throws {
        try await SenderFixture.run { farm in
            try await farm.submit(Array(repeating: 200, count: 16))
            try farm.apply()
            try await farm.finish()
            #expect(farm.counters.accepted == 3200 && farm.repeated == 0)
            let results = try await farm.results()
            #expect(results == ["delivered": 3200])
            #expect(try await farm.audit() == [])
            #expect(farm.sender.window.creditInUse == 0)
        }
    }

    @Test func `many batches of one push are sent`() async throws {
        try await SenderFixture.run { farm in
            for _ in 0..<10 { try await farm.submit(Array(repeating: 1, count: 100)) }
            try farm.apply()
            try await farm.finish()
            #expect(farm.counters.accepted == 1000 && farm.repeated == 0)
            let results = try await farm.results()
            #expect(results == ["delivered": 1000])
        }
    }

    @Test(arguments: ["goaway 150", "refuse 20%", "streams 7"])
    func `unprocessed pushes are sent again and reported once`(fault: String) async throws {
        try await SenderFixture.run {
            $0.faults = [fault]
        } _: { farm in
            try await farm.submit(Array(repeating: 100, count: 10))
            try farm.apply()
            try await farm.finish()
            #expect(farm.counters.accepted == 1000 && farm.repeated == 0)
            let results = try await farm.results()
            #expect(results == ["delivered": 1000])
            #expect(try await farm.audit() == [])
        }
    }

    @Test
    func `a push that the gateway always refuses is retried rarely without an attempt`()
        async throws
    {
        try await SenderFixture.run {
            $0.faults = ["refuse 100%"]
        } _: { farm in
            let sender = farm.sender
            try await farm.submit(Array(repeating: 200, count: 10))
            try farm.apply()
            #expect(await until { sender.takeNumbers()?.isStalled == true })
            #expect(farm.counters.refusedStreams < 60, "\(farm.counters.refusedStreams)")
            #expect(farm.counters.connections == 1)
            try farm.order("refuse off")
            try await farm.finish()
            #expect(farm.counters.accepted == 2000 && farm.repeated == 0)
            let results = try await farm.results()
            #expect(results == ["delivered": 2000])
            #expect(sender.takeNumbers()?.isStalled != true)
        }
    }

    @Test(arguments: [(600, 599, 599), (600, 86_400, 600), (600, 999_999_999, 600), (90, 86_400, 90)])
    func `a Retry-After delays a push up to the configured maximum`(
        longest: Int64, asked: Int, counts: UInt32
    ) async throws {
        try await SenderFixture.run { farm in
            try farm.order("answer 503 retry-after=\(asked)")
            try await farm.submit([1])
            try farm.apply(longestRetryAfter: .seconds(longest))
            try await farm.finish()
            #expect(try await farm.retryAfters() == [counts * 1000])
        }
    }

    /// The connections of the gateway stay open, because the gateway still owes a response.
    @Test func `a gateway that sends GOAWAY and never responds is not dialled in a loop`()
        async throws
    {
        try await SenderFixture.run { farm in
            let gateway = try await ScriptedGateway.start(farm.gateway.credentials.server) {
                ScriptedGateway.Reply(isGoAway: true)
            }
            try farm.apply(port: gateway.port)
            try await farm.submit([100])
            // Each connection was useless. The sender logs this, and waits longer before the next dial.
            #expect(await until { farm.sender.pool.isStalled })
            #expect(gateway.connections == 3)
            gateway.stop()
        }
    }

    @Test func `an HTTP error from a proxy is retried and pauses nothing`() async throws {
        try await SenderFixture.run { farm in
            try await farm.submit([3])
            try farm.apply()
            try await farm.finish()
            for status in [407, 411, 301] {
                try farm.order("answer \(status) reason=")
                try await farm.submit([3])
                try await farm.finish()
            }
            let results = try await farm.results()
            #expect(results == ["delivered": 3, "retry server": 9])
            #expect(farm.sender.suspension == nil)
            #expect(farm.notices.all.allSatisfy { if case .settingRejected = $0 { false } else { true } })
        }
    }

    /// A proxy's response that leaves open whether the gateway behind the proxy accepted the push.
    @Test(arguments: [502, 504])
    func `a push that a proxy may have forwarded is not repeated with at-most-once`(
        status: UInt16
    ) async throws {
        try await SenderFixture.run { farm in
            var requests = 0
            let gateway = try await ScriptedGateway.start(farm.gateway.credentials.server) {
                requests += 1
                return requests <= 6
                    ? ScriptedGateway.Reply(status: status, body: Array("<html>Bad Gateway</html>".utf8))
                    : ScriptedGateway.Reply()
            }
            try await farm.submit([3], options: PushOptions(delivery: .atMostOnce))
            try await farm.submit([3])
            try farm.apply(port: gateway.port)
            try await farm.finish()
            #expect(requests == 6)
            #expect(try await farm.results() == ["failed": 3, "retry unknownOutcome": 3])
            gateway.stop()
        }
    }

    @Test func `the sender continues after gateway trouble even without held pushes`() async throws {
        try await SenderFixture.run { farm in
            try await farm.submit([10])
            try farm.apply()
            try await farm.finish()
            // All pushes are in flight when the first response arrives.
            try farm.order("latency 100ms")
            try farm.order("answer 500")
            try await farm.submit([200, 200])
            try await farm.finish()
            #expect(farm.counters.accepted == 10)
            try farm.order("calm")
            try await farm.submit([100])
            try await farm.finish()
            #expect(farm.counters.accepted == 110)
            let results = try await farm.results()
            #expect(results == ["retry server": 400, "delivered": 110])
        }
    }

    @Test(arguments: [nil, 120]) func `429 delays the pushes to a device for as long as the gateway requests`(
        asked: Int?
    ) async throws {
        try await SenderFixture.run { farm in
            try farm.apply()
            try farm.order("answer 429" + (asked.map { " retry-after=\($0)" } ?? ""))
            try await farm.submit([1], from: 7)
            try await farm.finish()
            // One push to the same device and one push to another device.
            try farm.order("calm")
            try await farm.submit([1], from: 7)
            try await farm.submit([1], from: 8)
            try await farm.finish()
            #expect(farm.counters.requests == 2 && farm.counters.accepted == 1)
            let retries = try await farm.retries()
            #expect(retries.map(\.why) == [.throttled, .coolDown])
            for retry in retries {
                let isRight = asked.map { retry.seconds >= $0 - 1 } ?? (25..<60).contains(retry.seconds)
                #expect(isRight, "\(retry)")
            }
        }
    }

    @Test func `a pause returns pushes that are not in flight and nothing is sent twice`() async throws {
        try await SenderFixture.run {
            // The pause arrives long before the responses to the pushes.
            $0.faults = ["latency 200ms", "streams 50"]
        } _: { farm in
            let sender = farm.sender
            try await farm.submit(Array(repeating: 100, count: 8))
            try farm.apply()
            #expect(await until { farm.counters.accepted >= 200 })
            sender.pause()
            #expect(await until { sender.window.held.isEmpty && sender.pool.openStreams == 0 })
            let accepted = farm.counters.accepted
            #expect(accepted < 800)
            let before = try await farm.results()
            #expect(before == ["delivered": accepted])
            #expect(try await farm.audit() == [])
            sender.resume()
            try await farm.finish()
            #expect(farm.counters.accepted == 800 && farm.repeated == 0)
            let results = try await farm.results()
            #expect(results == ["delivered": 800])
        }
    }

    @Test func `a pause that only Redis reported ends when Redis says so`() async throws {
        try await SenderFixture.run { farm in
            let sender = farm.sender
            _ = try await farm.run("HSET", "{pushfarm:demo}:admission", "paused", "by hand", "since", "1")
            try farm.apply()
            try await farm.submit([100, 100])
            #expect(await until { sender.suspension == .pausedInRedis })
            #expect(farm.counters.accepted == 0)
            // The pause ends before the coordinator has seen the pause, so the coordinator never resumes the app.
            _ = try await farm.run("HDEL", "{pushfarm:demo}:admission", "paused", "since")
            sender.searchBatches()
            #expect(await until { farm.counters.accepted == 200 })
            try await farm.finish()
            #expect(farm.repeated == 0)
        }
    }

    @Test func `an app that is withdrawn and assigned again sends again unless paused`() async throws {
        try await SenderFixture.run { farm in
            let sender = farm.sender
            try farm.apply()
            sender.leave()
            sender.assign([:])
            // This message was in flight when the coordinator withdrew the app.
            sender.pause()
            sender.resume()
            farm.assignAll()
            try await farm.submit([100])
            #expect(sender.suspension == .removed && farm.counters.accepted == 0)
            sender.appConfiguredAgain()
            #expect(await until { farm.counters.accepted == 100 })
            sender.pause()
            sender.appConfiguredAgain()
            #expect(sender.suspension == .paused)
        }
    }

    @Test func `stale credentials are reported once and new ones send everything`() async throws {
        try await SenderFixture.run { farm in
            try await farm.submit([100, 100, 100])
            try farm.apply(generation: 1, tokenAge: 7200)
            let notice = try await farm.notices.next()
            guard case .settingRejected(let app, let unknown, let generation, let reason) = notice else {
                Issue.record("\(notice)")
                return
            }
            #expect(app == "demo" && unknown == .credentialsStale && generation == 1)
            #expect(reason == "ExpiredProviderToken" && farm.counters.accepted == 0)
            try farm.apply(generation: 2)
            try await farm.finish()
            #expect(farm.counters.accepted == 300 && farm.repeated == 0)
            let results = try await farm.results()
            #expect(results == ["delivered": 300])
        }
    }

    @Test func `an expired push is reported and not sent`() async throws {
        try await SenderFixture.run { farm in
            try await farm.submit([50], options: PushOptions(expiration: 1000, deadline: 1000))
            try await farm.submit([50])
            try farm.apply()
            try await farm.finish()
            #expect(farm.counters.requests == 50)
            let results = try await farm.results()
            #expect(results == ["expired": 50, "delivered": 50])
        }
    }

    @Test(arguments: [(DeliveryGuarantee.atLeastOnce, "retry unknownOutcome"), (.atMostOnce, "failed")])
    func `an unknown outcome is retried or final as the job requests`(
        delivery: DeliveryGuarantee, result: String
    )
        async throws
    {
        try await SenderFixture.run {
            $0.faults = ["reset 100% processed"]
        } _: { farm in
            try await farm.submit([60], options: PushOptions(delivery: delivery))
            try farm.apply()
            try await farm.finish()
            #expect(farm.counters.accepted == 60)
            let results = try await farm.results()
            #expect(results == [result: 60])
        }
    }
}
