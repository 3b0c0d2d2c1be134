import EventLoop
import Foundation

/// The processes of the demo's farm that the demo kills.
@Loop final class DemoVictims {
    private let client: FarmClient
    private let farm: LocalFarm
    private var killed: Set<pid_t> = []
    private(set) var workers = 0
    private(set) var intakes = 0

    init(_ client: FarmClient, _ farm: LocalFarm) { (self.client, self.farm) = (client, farm) }

    /// Kills a random worker that is ready. Kills nothing if there is none.
    func killWorker() async throws(CommandFailure) {
        let ready = try await client.hosts().flatMap { host in host.workers.filter { $0.state == "ready" } }
        if kill(oneOf: ready.compactMap(\.pid)) { workers += 1 }
    }

    /// Kills the intake. Kills nothing if it is not ready.
    func killIntake() async throws(CommandFailure) {
        let ready = try await client.hosts().compactMap(\.intake).filter { $0.state == "ready" }
        if kill(oneOf: ready.compactMap(\.pid)) { intakes += 1 }
    }

    private func kill(oneOf pids: [Int]) -> Bool {
        // The status may be a second old. If the process has exited since then, another process may have its process id.
        // So check that the process is in the session of this farm's coordinator, as its children are.
        let coordinator = farm.coordinator?.pid ?? 0
        let candidates = pids.map { pid_t($0) }.filter { pid in
            pid > 1 && !killed.contains(pid) && getsid(pid) == coordinator
        }
        guard let victim = candidates.randomElement(), Foundation.kill(victim, SIGKILL) == 0 else {
            return false
        }
        killed.insert(victim)
        return true
    }
}
