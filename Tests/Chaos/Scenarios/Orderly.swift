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
        }
    ]
}
