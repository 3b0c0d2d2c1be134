import EventLoop
import FarmHarness

/// Scenarios with network faults between the farm and Redis or the gateway.
extension Scenario {
    static let network: [Scenario] = [
        Scenario(29, "network to Redis: cut, slow, silent") { stage in
            stage.startFlow()
            let proxy = stage.redisProxies[0]
            try await stage.again(every: .milliseconds(500)) { try await stage.injectFault(proxy, "Redis") }
        },
        Scenario(
            30, "network to the gateway: cut, slow, silent", .with { $0.appLines = ["request_timeout: 4"] }
        ) {
            stage in
            stage.startFlow()
            stage.expectation.keepsOrder = false
            // An abandoned connection may still have requests in flight, while the worker sends on a new connection.
            stage.expectation.hasOneSender = false
            let proxy = stage.gatewayProxy
            try await stage.again(every: .milliseconds(500)) {
                stage.expectation.doubles += stage.options.workers * 200
                try await stage.injectFault(proxy, "gateway")
            }
        },
        Scenario(
            31, "a host is cut off from Redis, not from the gateway", .with { $0.hosts = 2 }
        ) { stage in
            stage.startFlow()
            try await stage.pause(.seconds(2))
            stage.expectation.recovery = 40_000
            // The other host takes over when the leases expire. The outcome of pushes in flight is unknown.
            stage.expectDoubles(stage.hosts[0].pids(.worker).count)
            try await stage.fault("blackhole") {
                stage.redisProxies[0].fare = .blackhole
                try await stage.pause(.seconds(stage.scale.isShort ? 16 : 30))
                stage.redisProxies[0].heal()
            }
            // Waits until each host has its share of the shards again.
            try await stage.pause(.seconds(stage.scale.isShort ? 3 : 15))
        },
        Scenario(
            32, "both hosts are cut off from Redis, and back", .with { $0.hosts = 2 }
        ) { stage in
            stage.startFlow()
            try await stage.pause(.seconds(2))
            stage.expectation.recovery = 40_000
            stage.expectDoubles(stage.hosts.count * stage.options.workers)
            try await stage.fault("blackhole for all") {
                for proxy in stage.redisProxies { proxy.fare = .blackhole }
                try await stage.pause(.seconds(14))
                for proxy in stage.redisProxies { proxy.heal() }
            }
            try await stage.pause(.seconds(2))
        },
    ]
}

extension Stage {
    /// Injects one network fault that the seed chooses.
    func injectFault(_ proxy: FaultProxy, _ what: String) async throws {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: await fault("reset \(what)") { proxy.cut(.reset) }
        case 1: await fault("finish \(what)") { proxy.cut(.finish) }
        case 2: await fault("half-open \(what)") { proxy.cut(.halfOpen) }
        case 3:
            let odd = Bool.random(using: &random)
            await fault("reset some \(what)") {
                proxy.cut(.reset) { $0.number.isMultiple(of: 2) == odd }
            }
        case 4:
            try await fault("slow \(what)") {
                proxy.fare = .both(LinkFaults.Direction(delay: .milliseconds(200)))
                try await pause(.seconds(2))
                proxy.heal()
            }
        case 5:
            try await fault("narrow \(what)") {
                proxy.fare = .both(LinkFaults.Direction(rate: 20_000))
                try await pause(.seconds(2))
                proxy.heal()
            }
        case 6:
            let isUp = Bool.random(using: &random)
            try await fault("one way to \(what)") {
                let blocked = LinkFaults.Direction(isBlocked: true)
                proxy.fare = isUp ? LinkFaults(up: blocked) : LinkFaults(down: blocked)
                try await pause(.seconds(2))
                proxy.heal()
            }
        default:
            let welcome: FaultProxy.AcceptMode =
                [.close, .reset, .silence].randomElement(using: &random) ?? .reset
            try await fault("no welcome at \(what)") {
                proxy.welcome = welcome
                proxy.cut(.reset)
                try await pause(.seconds(1))
                proxy.heal()
            }
        }
    }
}
