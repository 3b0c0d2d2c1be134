package import Foundation

/// A coordinator's child processes, as `pushfarm status` reports them.
package struct FarmProcesses: Sendable {
    package let intake: pid_t
    package let workers: [pid_t]

    private struct Status: Decodable {
        struct Host: Decodable {
            var intake: Process
            var workers: [Process]
        }
        struct Process: Decodable {
            var pid: pid_t
            var state: String
        }
        var hosts: [Host]
    }

    /// Waits until all child processes are ready.
    ///
    /// - Parameter configuration: the path of the coordinator's configuration file.
    package static func ready(
        _ coordinator: Child, configuration: String, workers: Int, in folder: String
    ) async throws -> FarmProcesses {
        var looks = 0
        return try await eventually("the farm is ready") {
            if coordinator.hasEnded { throw Overdue(description: "not ready: \(coordinator.error)") }
            looks += 1
            let command = try Child(
                "status\(looks)", BuiltProgram.path, ["status", "--json", "--config", configuration],
                in: folder)
            _ = try await command.wait()
            guard let status = try? JSONDecoder().decode(Status.self, from: Data(command.output.utf8)),
                let host = status.hosts.first, host.intake.state == "ready",
                host.workers.count == workers, host.workers.allSatisfy({ $0.state == "ready" })
            else {
                // Polling without a delay would take CPU time from the farm.
                try await Task.sleep(for: .milliseconds(100))
                return nil
            }
            return FarmProcesses(intake: host.intake.pid, workers: host.workers.map(\.pid))
        }
    }
}
