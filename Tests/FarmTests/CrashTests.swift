import FarmHarness
import Foundation
import Testing

/// Processes that are killed while pushes are in flight.
@Suite(.startsProcesses(limit: .seconds(300))) struct CrashTests {
    /// A gateway that is so slow that a process can be killed in the middle of the load.
    private static var slow: Farm.Options {
        .init(faults: ["latency 1s", "streams 100"], appLines: ["max_conns: 2"])
    }
    private static let fast = "latency 20ms"
    private static let tokens = Tokens.make(5_000)

    /// Pushes jobs, and waits until some of their pushes have reached the gateway.
    private static func load(_ farm: Farm) async throws -> [Job] {
        let jobs = Job.several("load", tokens, size: 500)
        try farm.push(jobs)
        try await farm.gateway.requests(800)
        return jobs
    }

    /// Starts another coordinator with a faster gateway.
    /// Expects that the new coordinator's workers send each remaining push once.
    private static func expectRestAfterRestart(_ farm: Farm, _ jobs: [Job]) async throws {
        try farm.gateway.control(fast)
        try farm.restartCoordinator()
        let totals = try await farm.finished(jobs)
        #expect(totals.delivered == tokens.count && totals.maybeDuplicated == 0)
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: tokens) == 0 && ledger.doubles == 0)
    }

    @Test func `a worker that is killed under load loses no push and is replaced`() async throws {
        let farm = try await Farm(Self.slow)
        let before = try await farm.ready()
        let jobs = try await Self.load(farm)
        farm.kill(worker: before.workers[0].pid)
        try farm.gateway.control(Self.fast)
        let totals = try await farm.finished(jobs)
        #expect(totals.delivered == Self.tokens.count && totals.failed == 0)
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: Self.tokens) == 0)
        #expect(ledger.doubles <= totals.maybeDuplicated)
        #expect(totals.maybeDuplicated <= 2_000)
        // A push that is sent again has the same id.
        for (token, ids) in ledger.ids where ids.count > 1 { Issue.record("\(token): \(ids)") }

        let after = try await farm.ready()
        #expect(after.pid == before.pid && !farm.coordinator.hasEnded)
        #expect(after.workers[0].pid != before.workers[0].pid && after.workers[0].restarts == 1)
        #expect(after.workers[1].pid == before.workers[1].pid && after.workers[1].restarts == 0)
    }

    @Test func `workers of a killed coordinator finish and exit, and no push is sent twice`()
        async throws
    {
        let farm = try await Farm(Self.slow)
        _ = try await farm.ready()
        let jobs = try await Self.load(farm)
        let old = farm.coordinator
        old.signal(SIGKILL)
        #expect(try await old.wait() == .killed(SIGKILL))
        try await eventually("no worker is left", within: .seconds(20)) { old.descendants.isEmpty }
        #expect(try farm.gateway.ledger().lines.count < Self.tokens.count, "it was killed in the middle")
        try await Self.expectRestAfterRestart(farm, jobs)
    }

    @Test func `a coordinator that exits under load hands all its shards over`() async throws {
        let farm = try await Farm(Self.slow)
        _ = try await farm.ready()
        let jobs = try await Self.load(farm)
        let old = farm.coordinator
        old.signal(SIGTERM)
        #expect(try await old.wait() == .exited(0))
        #expect(old.descendants.isEmpty)
        #expect(try farm.gateway.ledger().lines.count < Self.tokens.count, "it was ended in the middle")
        #expect(try await farm.status().hosts.isEmpty)
        try await Self.expectRestAfterRestart(farm, jobs)
    }

    @Test func `a host that removed its heartbeat does not write it again on a slow Redis`()
        async throws
    {
        let farm = try await Farm(
            Farm.Options(environment: ["PUSHFARM_FAILPOINTS": "redis.leave.before:stop"]))
        _ = try await farm.ready()
        farm.coordinator.signal(SIGTERM)
        try await eventually("the host removes its heartbeat") { farm.coordinator.standsStill }
        // Redis is stopped for longer than the time between two heartbeats. So a heartbeat becomes due before Redis replies.
        farm.redis.process.signal(SIGSTOP)
        farm.coordinator.signal(SIGCONT)
        let since = ContinuousClock.now
        try await eventually("a heartbeat is due") { ContinuousClock.now - since > .seconds(2) }
        farm.redis.process.signal(SIGCONT)
        #expect(try await farm.coordinator.wait() == .exited(0))
        #expect(try farm.redis.client().run("HLEN", "{pushfarm}:hosts").integer == 0)
    }
}
