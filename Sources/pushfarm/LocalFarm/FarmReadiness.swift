import EventLoop
import StoreProtocol

/// Waits until a coordinator's intake and workers are ready.
@Loop struct FarmReadiness {
    let client: FarmClient

    /// - Parameter isHopeless: says when waiting makes no sense any more.
    /// - Returns: false when the time has passed, or it is hopeless.
    func wait(within limit: Duration, unless isHopeless: @Loop () -> Bool) async throws(CommandFailure)
        -> Bool
    {
        let deadline = ContinuousClock.now + limit
        while ContinuousClock.now < deadline, !isHopeless() {
            if try await !readyWorkers().isEmpty { return true }
            do { try await Loop.sleep(for: .milliseconds(50)) } catch { return false }
        }
        return false
    }

    /// The workers, when all of their host's are ready, and its intake is.
    func readyWorkers() async throws(CommandFailure) -> [HostStatus.WorkerStatus] {
        try await hosts().flatMap { host in
            let isReady =
                host.state == "running" && host.intake?.state == "ready"
                && host.workers.allSatisfy { $0.state == "ready" }
            return isReady ? host.workers : []
        }
    }

    /// The workers that are ready now.
    func workers() async throws(CommandFailure) -> [HostStatus.WorkerStatus] {
        try await hosts().flatMap { host in host.workers.filter { $0.state == "ready" } }
    }

    private func hosts() async throws(CommandFailure) -> [HostStatus] {
        let lines = try await client.ask { registry throws(RedisError) in try await registry.hosts() }
        return lines.map { HostStatus(name: $0.name, json: $0.status, isAlive: $0.endsIn > .zero) }
    }
}
