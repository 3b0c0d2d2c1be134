import EventLoop
import FarmHarness

/// Scenarios with large jobs beside small jobs, and with low system limits.
extension Scenario {
    static let limits: [Scenario] = [
        Scenario(
            22, "one large job beside many small ones",
            .with {
                $0.tokens = 30_000
                $0.connections = 4
            }
        ) { stage in
            stage.startFlow(every: .milliseconds(30), sizes: 1...1)
            try await stage.pause(.seconds(1))
            await stage.push(stage.scale.isShort ? 16_000 : 30_000)
            try await stage.pause(stage.scale.span)
        },
        Scenario(23, "few descriptors", .with { $0.limit = "-n 48" }) { stage in
            stage.startFlow()
            try await stage.again(every: .seconds(2)) {
                // After the fault, all connections are opened at about the same time.
                await stage.fault("reset all") {
                    stage.redisProxies[0].cut(.reset)
                    stage.gatewayProxy.cut(.reset)
                }
                stage.expectation.doubles += stage.options.workers * 200
                stage.expectation.keepsOrder = false
            }
        },
        Scenario(
            24, "a host's clock jumps by an hour, and back",
            .with {
                $0.hosts = 2
                $0.hasCertificate = true
                $0.clock = [(.seconds(6), 3600), (.seconds(13), -3600), (.seconds(20), 0)]
            }
        ) { stage in
            // Leases, retries, deadlines and timeouts use Redis's clock and elapsed time, so a wrong host clock has no effect.
            stage.startFlow()
            for what in ["an hour ahead", "an hour behind", "right again"] {
                try await stage.pause(.seconds(7))
                await stage.fault("the clock is \(what)") {
                    await stage.push(300, within: .seconds(1800))
                }
            }
            try await stage.pause(stage.scale.isShort ? .seconds(2) : stage.scale.span)
            for host in stage.hosts where host.coordinator.error.contains("lease") {
                stage.complain("\(host.name) says: \(host.coordinator.error)")
            }
        },
    ]
}
