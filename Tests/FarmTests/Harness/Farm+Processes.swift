import FarmHarness
import Foundation
import Testing

extension Farm {
    /// The default hosts of tests that start hosts by name.
    static let twoHosts = ["alpha", "beta"]

    func status() async throws -> Status {
        try Status(json: try await run("status", "--json").output)
    }

    /// Waits until the only host's intake and all its workers are ready. Reads Redis first, because a command for each poll would
    /// take more CPU time.
    func ready() async throws -> Status.Host {
        try await eventually("intake and workers are ready") {
            let lines =
                (try? redis.client().run("HVALS", "{pushfarm}:hosts"))?.array?.compactMap(\.text) ?? []
            guard lines.contains(where: { $0.contains(#""ready""#) && !$0.contains(#""starting""#) }),
                let host = try await status().hosts.first(where: { $0.pid == coordinator.pid })
            else { return nil }
            let isReady =
                host.intake.state == "ready" && host.workers.count == host.capacity
                && host.workers.allSatisfy { $0.state == "ready" }
            return isReady ? host : nil
        }
    }

    /// Living worker processes. The list comes from the process table, because the farm's own status is slightly old.
    var workers: [pid_t] { coordinator.descendants.filter { ProcessTable.isAbout("worker", $0) } }

    // MARK: Signals

    func kill(worker pid: pid_t) { signal(child: pid, SIGKILL) }

    func kill(child pid: pid_t) { signal(child: pid, SIGKILL) }

    /// Kills the intake process, after one has been started. The process comes from the process table, because right after
    /// an earlier kill the farm's own status still shows the killed process.
    func killIntake() async throws {
        kill(
            child: try await eventually("an intake process runs") {
                coordinator.descendants.first { ProcessTable.isAbout("intake", $0) }
            })
    }

    func signal(worker pid: pid_t, _ number: Int32) { signal(child: pid, number) }

    /// Sends a signal to a process if the process belongs to the host's group.
    func signal(child pid: pid_t, of host: String = "here", _ number: Int32) {
        guard coordinator(host).descendants.contains(pid) else {
            Issue.record("process \(pid) does not belong to \(host)")
            return
        }
        _ = Foundation.kill(pid, number)
    }
}
