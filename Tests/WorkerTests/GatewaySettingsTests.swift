import ControlChannel
import FarmPolicy
import OpenSSL
import Simulator
import Testing

@testable import Gateway
@testable import Worker

/// Checks that connections use the gateway settings from the coordinator's message.
@Suite struct GatewaySettingsTests {
    private func plan(_ change: (inout AppSetup) -> Void = { _ in }) throws -> GatewaySettings {
        let authority = try ThrowAwayAuthority()
        var setup = AppSetup(
            name: "demo", topic: "com.example.demo", host: "localhost", port: 443,
            credentials: .providerToken, trustedCA: Array(authority.certificatePEM))
        change(&setup)
        return try GatewaySettings(setup, token: [1], generation: 3, worker: 5)
    }

    @Test(arguments: [(0, nil), (7, .seconds(7)), (3600, .seconds(3600))] as [(UInt32, Duration?)])
    func `keep_alive reaches the connection`(seconds: UInt32, time: Duration?) throws {
        #expect(try plan { $0.use.keepAliveSeconds = seconds }.keepAlive == time)
    }

    @Test func `each number of the message reaches the plan`() throws {
        let plan = try plan {
            ($0.requestTimeoutMilliseconds, $0.connections) = (1234, 9)
            ($0.use.minConnections, $0.use.maxStreams, $0.use.scale) = (2, 300, .exponential(3))
            ($0.use.sustainMilliseconds, $0.use.pollMilliseconds, $0.use.settleMilliseconds) = (11, 12, 13)
            ($0.use.dialMilliseconds, $0.use.minBackOffMilliseconds) = (21, 22)
            ($0.use.maxBackOffMilliseconds, $0.use.backOffJitter) = (23, 0.25)
            $0.use.maxRetryAfterSeconds = 77
        }
        #expect(plan.requestTimeout == .milliseconds(1234) && plan.connections == 9)
        #expect(plan.governor.minConnections == 2 && plan.governor.maxConnections == 9)
        #expect(plan.governor.scale == .exponential(3) && plan.maxStreams == 300)
        #expect(plan.governor.minSustain == .milliseconds(11))
        #expect(plan.governor.pollInterval == .milliseconds(12))
        #expect(plan.governor.settlePeriod == .milliseconds(13))
        #expect(plan.dial.timeout == .milliseconds(21) && plan.dial.firstPause == .milliseconds(22))
        #expect(plan.dial.longestPause == .milliseconds(23) && plan.dial.jitter == 0.25)
        #expect(plan.longestRetryAfter == .seconds(77))
        #expect(plan.generation == 3 && plan.firstAddress == 5)
    }
}
