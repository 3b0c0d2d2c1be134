import ControlChannel
import FarmConfiguration
import Testing

@testable import Coordinator

/// Checks that workers receive the configured settings of an app.
@Suite struct AppSetupTests {
    private func setup(_ lines: String...) throws -> AppSetup {
        let text = """
            apps:
              demo:
                topic: com.example.demo
                key: { file: AuthKey_ABC123DEFG.p8, id: ABC123DEFG, team: DEF123GHIJ }

            """
        let farm = try Configuration.read(
            text + lines.map { "    \($0)\n" }.joined(), file: "pushfarm.yaml", environment: [:],
            overrides: [],
            purpose: .client, workingDirectory: "/srv")
        return AppSetup(try #require(farm.app(named: "demo")), workers: 2, shards: 64, generation: 7)
    }

    @Test func `keep_alive and max_retry_after reach the worker`() throws {
        let usual = try setup()
        #expect(usual.use.keepAliveSeconds == 3600 && usual.use.maxRetryAfterSeconds == 600)
        let other = try setup("keep_alive: 240", "max_retry_after: 90.5")
        #expect(other.use.keepAliveSeconds == 240 && other.use.maxRetryAfterSeconds == 91)
        #expect(try setup("keep_alive: 0").use.keepAliveSeconds == 0)
    }

    @Test func `every other number reaches the worker`() throws {
        let setup = try setup(
            "request_timeout: 1.5", "min_conns: 2", "max_conns: 5", "max_concurrent_streams: 300",
            "max_rate: 12.5", "min_sustain: 3", "poll_interval: 0.3", "settle_period: 5", "dial_timeout: 6",
            "min_dial_back_off: 0.7", "max_dial_back_off: 8", "dial_back_off_jitter: 0.2", "weight: 4",
            "bulk_floor: 20")
        #expect(setup.requestTimeoutMilliseconds == 1500 && setup.connections == 5 && setup.generation == 7)
        #expect(setup.use.minConnections == 2 && setup.use.maxStreams == 300 && setup.use.maxRate == 12.5)
        #expect(setup.use.sustainMilliseconds == 3000 && setup.use.pollMilliseconds == 300)
        #expect(setup.use.settleMilliseconds == 5000 && setup.use.dialMilliseconds == 6000)
        #expect(setup.use.minBackOffMilliseconds == 700 && setup.use.maxBackOffMilliseconds == 8000)
        #expect(setup.use.backOffJitter == 0.2 && setup.use.shards == 64)
        #expect(setup.weight == 4 && setup.bulkFloor == 20)
    }
}
