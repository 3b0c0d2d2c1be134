import FarmHarness
import Foundation
import Testing

/// Timeouts and grace periods of processes.
@Suite(.startsProcesses) struct ProcessTimeoutTests {
    /// Waits until this many requests have reached the gateway, which responds slowly.
    private func waitForRequests(_ count: Int, _ farm: Farm) async throws {
        try await eventually("\(count) requests") { try farm.gateway.counter("requests") == count }
    }

    @Test func `a worker waits for slow responses before it exits`() async throws {
        // The gateway's latency is longer than the watchdog's limit.
        let farm = try await Farm(Farm.Options(workers: 1, faults: ["latency 13s"]))
        _ = try await farm.ready()
        try farm.push([Job(id: "slow", tokens: Tokens.make(50))])
        try await waitForRequests(50, farm)
        farm.coordinator.signal(SIGTERM)
        #expect(try await farm.coordinator.wait() == .exited(0))
        #expect(!farm.coordinator.error.contains("hangs"), "\(farm.coordinator.error)")
        try farm.restartCoordinator()
        let jobRecord = try await farm.finished("slow")
        #expect(jobRecord.delivered == 50 && jobRecord.maybeDuplicated == 0)
        #expect(try farm.gateway.ledger().lines.count == 50)
    }

    @Test func `a stopped host continues with the same processes`() async throws {
        let farm = try await Farm()
        let before = try await farm.ready()
        let coordinator = farm.coordinator.pid
        _ = kill(-coordinator, SIGSTOP)
        // The suspension is longer than the watchdog's limit.
        try await Task.sleep(for: .seconds(13))
        // The test continues the coordinator before its children. So the coordinator checks the children before a child can send
        // a heartbeat.
        let line = try hostLine(farm)
        _ = kill(coordinator, SIGCONT)
        try await eventually("the coordinator has checked its children") { try hostLine(farm) != line }
        _ = kill(-coordinator, SIGCONT)
        try farm.push([Job(id: "after", tokens: Tokens.make(500))])
        #expect(try await farm.finished("after").delivered == 500)
        let after = try await farm.ready()
        #expect(after.intake.pid == before.intake.pid && after.intake.restarts == 0)
        #expect(after.workers.map(\.pid) == before.workers.map(\.pid), "\(farm.coordinator.error)")
    }

    /// The host's heartbeat. The coordinator writes the heartbeat after it has checked its children.
    private func hostLine(_ farm: Farm) throws -> String? {
        try farm.redis.client().run("HGET", "{pushfarm}:hosts", "here").text
    }

    private func outages(_ farm: Farm) -> Int {
        farm.coordinator.error.components(separatedBy: "Redis is not reachable").count - 1
    }

    @Test func `each process reports a missing Redis once, and the farm exits on a signal`() async throws {
        let farm = try await Farm()
        _ = try await farm.ready()
        try await farm.redis.kill()
        try await eventually("the leases run out") { farm.coordinator.error.contains("leases expired") }
        // The coordinator, the intake and two workers report the outage.
        #expect(outages(farm) == 4, "\(farm.coordinator.error)")
        farm.coordinator.signal(SIGTERM)
        #expect(try await farm.coordinator.wait() == .exited(0))
        // A coordinator that waits for Redis at its start exits on a signal too.
        try farm.restartCoordinator()
        try await eventually("it waits for Redis") { outages(farm) == 5 }
        farm.coordinator.signal(SIGTERM)
        #expect(try await farm.coordinator.wait(within: .seconds(20)) == .exited(0))
    }

    @Test func `a farm that loses Redis while it shuts down does not wait for Redis`() async throws {
        let farm = try await Farm(Farm.Options(workers: 1, faults: ["latency 60s"]))
        _ = try await farm.ready()
        try farm.push([Job(id: "away", tokens: Tokens.make(1))])
        try await waitForRequests(1, farm)
        try await farm.redis.kill()
        farm.coordinator.signal(SIGTERM)
        #expect(try await farm.coordinator.wait(within: .seconds(90)) == .exited(0))
    }
}
