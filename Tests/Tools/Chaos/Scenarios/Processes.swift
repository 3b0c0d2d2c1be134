import EventLoop
import FarmHarness
import Foundation

/// Scenarios with processes that are killed, stopped, or fail at failpoints.
extension Scenario {
    static let processes: [Scenario] = [
        Scenario(1, "kill workers") { stage in
            stage.startFlow(every: .milliseconds(50))
            try await stage.again(every: .milliseconds(500)) { await stage.killWorker() }
        },
        Scenario(
            2, "kill at each failpoint", .with { $0.failpoints = Scenario.pointRules }
        ) { stage in
            stage.startFlow()
            stage.expectation.doubles = Scenario.points.count * Stage.window
            stage.expectation.keepsOrder = false
            // The scenario restarts a failed coordinator, as systemd does.
            try await stage.again(every: .milliseconds(200)) { try await stage.restartTheDead() }
            try await eventually("each failpoint was hit", within: .seconds(90)) {
                try await stage.restartTheDead()
                return stage.failures.count == Scenario.points.count
            }
            try await stage.restartTheDead()
        },
        Scenario(3, "kill the coordinator") { stage in
            stage.startFlow()
            // The workers of a killed coordinator finish their pushes in flight, so no outcome is unknown.
            try await stage.again(every: .seconds(3)) {
                try await stage.fault("kill coordinator") {
                    let host = stage.hosts[0]
                    host.signal(SIGKILL)
                    _ = try await host.ended()
                    try host.restart()
                    try await stage.ready()
                }
            }
        },
        Scenario(4, "kill a whole host of two", .with { $0.hosts = 2 }) { stage in
            stage.startFlow()
            stage.expectation.recovery = 40_000
            try await stage.pause(.seconds(2))
            let rounds = stage.scale.isShort ? 1 : 3
            for _ in 0..<rounds {
                let host = stage.hosts[0]
                try await stage.fault("kill host") {
                    stage.expectDoubles(host.pids(.worker).count)
                    host.signalAll(SIGKILL)
                    _ = try await host.ended()
                }
                // This time is long enough for the other host to take over all leases.
                try await stage.pause(.seconds(16))
                try host.restart()
                try await stage.ready()
                try await stage.pause(.seconds(2))
            }
        },
        Scenario(5, "stop a worker for 1 s and for 12 s") { stage in
            stage.startFlow()
            for _ in 0..<(stage.scale.isShort ? 1 : 5) {
                try await stage.pause(.milliseconds(500))
                guard let pid = stage.hosts[0].pids(.worker).first else { continue }
                try await stage.fault("stop worker for 1 s") {
                    kill(pid, SIGSTOP)
                    try await stage.pause(.seconds(1))
                    kill(pid, SIGCONT)
                }
                if stage.hosts[0].pids(.worker).first != pid { stage.complain("killed after 1 s stop") }
            }
            try await stage.pause(.seconds(1))
            guard let pid = stage.hosts[0].pids(.worker).first else { return }
            stage.expectDoubles(1)
            try await stage.fault("stop worker permanently") {
                kill(pid, SIGSTOP)
                try await eventually("the hanging worker is killed", within: .seconds(40)) {
                    !stage.hosts[0].pids(.worker).contains(pid)
                }
            }
        },
        Scenario(6, "stop a whole host for longer than its leases", .with { $0.hosts = 2 }) { stage in
            stage.startFlow()
            try await stage.pause(.seconds(2))
            let host = stage.hosts[0]
            stage.expectDoubles(host.pids(.worker).count)
            // Stopped workers may have written pushes that leave the host only when the workers continue. At that time, other
            // workers already send for the same shards.
            stage.expectation.hasOneSender = false
            stage.expectation.recovery = 40_000
            try await stage.fault("stop host") {
                host.signalAll(SIGSTOP)
                try await stage.pause(.seconds(stage.scale.isShort ? 16 : 30))
                host.signalAll(SIGCONT)
            }
            try await stage.pause(.seconds(5))
            try await stage.restartTheDead()
        },
    ]

    /// One rule for each failpoint. Each rule kills one process. Between kills, workers send other pushes, because repeated kills
    /// by the same push would look like poison.
    static var pointRules: [String] {
        points.enumerated().map { index, point in "\(point.name):kill:\(point.probability):\(index):1" }
    }

    /// Failpoints with their probabilities. Processes pass failpoints at different rates: once a push, once a batch, or rarely.
    static let points: [(name: String, probability: Double)] =
        ["send.before", "send.after", "answer"].map { ($0, 0.02) }
        + [
            "redis.checkout.before", "redis.checkout.sent", "redis.checkout.after", "batch.read",
            "redis.report.before", "redis.report.sent", "redis.report.after", "batch.done",
        ].map { ($0, 0.2) }
        + [
            "redis.take.before", "redis.take.after", "intake.parse", "redis.split.before", "redis.split.sent",
            "redis.split.after", "redis.settle.before", "redis.settle.sent", "redis.settle.after",
            "redis.promote_due.after", "redis.reclaim.before", "redis.reclaim.after", "redis.lease.before",
            "redis.lease.after",
        ].map { ($0, 1) }
}

extension Stage {
    /// Expects duplicates of the pushes that this number of workers had in flight when they ended.
    func expectDoubles(_ workers: Int) {
        expectation.doubles += workers * Stage.window
        // The farm sends pushes in flight again, possibly after newer pushes of another worker.
        expectation.keepsOrder = false
    }

    func killWorker() async {
        guard let host = hosts.randomElement(using: &random),
            let pid = host.pids(.worker).randomElement(using: &random)
        else { return }
        expectDoubles(1)
        await fault("kill worker") { kill(pid, SIGKILL) }
    }

    /// Restarts coordinators that have ended.
    func restartTheDead() async throws {
        for host in hosts where host.hasEnded {
            await fault("coordinator ended by itself") {}
            try host.restart()
        }
    }
}
