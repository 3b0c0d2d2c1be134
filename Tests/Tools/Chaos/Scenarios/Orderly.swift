import EventLoop
import FarmHarness
import Foundation

/// Scenarios with operator commands under load. The farm must not send any push twice.
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
                    if end != .exited(0) { stage.complain("SIGTERM: \(end)") }
                    try stage.configure(host.name, workers: workers)
                    try host.restart()
                    try await eventually("\(workers) workers") {
                        host.placement.count == workers
                    }
                }
            }
        },
        Scenario(33, "operators change everything", .with { $0.hosts = 2 }) { stage in
            // Commands move a shard back and forth so fast that the checker would see two senders at the same time. The
            // checker still checks the order of pushes to each device.
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
        Scenario(34, "kill processes during upgrades", .with { $0.hosts = 2 }) { stage in
            stage.startFlow()
            // The leases of a killed predecessor must expire before deliveries of their shards resume.
            stage.expectation.recovery = 40_000
            var victims = KilledProcess.allCases.shuffled(using: &stage.random)
            try await stage.again(every: .seconds(1)) {
                let victim = victims.removeFirst()
                victims.append(victim)
                try await stage.upgrade(losing: victim)
            }
        },
    ]

    /// The process that is killed during an upgrade.
    fileprivate enum KilledProcess: CaseIterable {
        case old, new, worker
    }

    /// Sequences of commands. Each sequence ends with the initial state.
    private static let operations = [
        ["scale 3 host1", "scale 1 host2", "scale default all"],
        ["restart all --rolling"], ["restart host1/0"],
        ["quiet host2/1", "restart host2/1"],
        ["drain host2", "resume host2"],
        [
            "shards move 7 host2", "shards move 8 host1", "shards move 7 auto --no-wait",
            "shards move 8 auto --no-wait",
        ],
        ["pause demo", "resume demo"], ["pause all", "resume all"],
        ["pause demo --shard 9", "resume demo --shard 9"],
        ["rate demo 200/s", "rate demo default"], ["admission close demo", "admission auto demo"],
        ["reload all"], ["upgrade host1"], ["upgrade all"],
        ["debug log-level debug all", "debug log-level info all"],
        ["debug dump host1"],
    ]
}

extension Stage {
    /// Upgrades a host, kills a process at a random moment, and waits until the host has exactly one coordinator.
    fileprivate func upgrade(losing victim: Scenario.KilledProcess) async throws {
        guard let host = hosts.randomElement(using: &random), let old = host.leaders.first else { return }
        // A killed predecessor cannot report the result of the upgrade. So the command only waits until the predecessor
        // has accepted the upgrade.
        let words = ["upgrade", host.name] + (victim == .old ? ["--no-wait"] : [])
        try await fault("upgrade \(host.name), and kill \(victim)") {
            let command = try begin(words)
            if victim == .old { try await expectDone(words, command) }
            try await pause(.milliseconds(Int.random(in: 0...1500, using: &random)))
            switch victim {
            case .old: if host.leaders.contains(old) { try await lose([old], of: host) }
            case .new:
                try await lose(host.leaders.filter { $0 != old }, of: host)
                // The upgrade is over when the command ends. The command may fail, because the predecessor may end too.
                _ = try await command.wait(within: .seconds(70))
            case .worker:
                if let pid = host.pids(.worker).randomElement(using: &random) {
                    expectDoubles(1)
                    kill(pid, SIGKILL)
                }
                try await expectDone(words, command)
            }
            try await eventually("\(host.name) has one coordinator, and its workers") {
                try await restartTheDead()
                return host.leaders.count == 1 && host.placement.count == options.workers
            }
        }
    }

    /// Kills coordinators, and waits until they have ended.
    private func lose(_ leaders: [pid_t], of host: Host) async throws {
        for pid in leaders { kill(pid, SIGKILL) }
        try await eventually("\(leaders) of \(host.name) have ended") {
            host.leaders.allSatisfy { !leaders.contains($0) }
        }
    }
}
