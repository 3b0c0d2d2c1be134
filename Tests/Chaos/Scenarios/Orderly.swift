import EventLoop
import FarmHarness
import Foundation

/// What an operator does to a farm under load: nothing may be sent twice.
extension Scenario {
    static let orderly: [Scenario] = [
        Scenario(
            25, "stop, start, reload, more and fewer workers", .with { $0.connections = 4 }
        ) { stage in
            stage.startFlow()
            var sizes = [2, 4, 1]
            try await stage.again(every: .seconds(1)) {
                let host = stage.hosts[0]
                await stage.fault("reload") { host.signal(SIGHUP) }
                try await stage.pause(.milliseconds(500))
                let workers = sizes.removeFirst()
                sizes.append(workers)
                try await stage.fault("restart with \(workers) workers") {
                    host.signal(SIGTERM)
                    let end = try await host.ended()
                    if end != .exited(0) { stage.complain("told to end: \(end)") }
                    try stage.configure(host.name, workers: workers)
                    try host.restart()
                    try await eventually("\(workers) workers") {
                        host.pids(.worker).count == workers
                    }
                }
            }
        },
        Scenario(33, "operators change everything", .with { $0.hosts = 2 }) { stage in
            // Orders bring a shard there and back sooner than two senders could be told from it; each device's order is looked at.
            stage.expectation.hasOneSender = false
            stage.startFlow()
            let end = ContinuousClock.now + stage.scale.span
            repeat {
                for orders in operations.shuffled(using: &stage.random) {
                    for order in orders {
                        try await stage.fault(order) {
                            try await stage.run(order.split(separator: " ").map(String.init))
                        }
                        try await stage.pause(.milliseconds(200))
                    }
                }
            } while ContinuousClock.now < end
        },
    ]

    /// Orders that follow each other; after the last one of each all is as it was.
    private static let operations = [
        ["scale 3 --host host1", "scale 1 --host host2", "scale default"],
        ["restart all --rolling"], ["restart host1/0"],
        ["quiet host2/1", "restart host2/1"],
        ["drain host2", "reload host2"],
        [
            "shards move 7 host2", "shards move 8 host1", "shards move 7 auto --no-wait",
            "shards move 8 auto --no-wait",
        ],
        ["pause demo", "resume demo"], ["pause all", "resume all"],
        ["pause demo --shard 9", "resume demo --shard 9"],
        ["rate demo 200/s", "rate demo default"], ["gate close demo", "gate auto demo"],
        ["reload all"], ["log-level debug", "log-level info"], ["dump host1"],
    ]
}
