import FarmHarness
import Foundation
import Testing

/// The output of a command with `--json`, with the reply of each host.
struct CommandResult: Decodable {
    struct Host: Decodable {
        var host: String
        var state: String
        var text: String
    }

    var id: String
    var done: Int
    var of: Int
    var silent: [String]
    var hosts: [Host]
}

extension Farm {
    /// Runs a command and expects success.
    @discardableResult
    func operate(
        _ arguments: String..., status: Int32 = 0, on host: String = "alpha",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> CommandResult {
        let result = try await run(arguments + ["--json"], on: host)
        #expect(result.status == status, "\(arguments): \(result)", sourceLocation: sourceLocation)
        return try JSONDecoder().decode(CommandResult.self, from: Data(result.output.utf8))
    }

    /// Returns a host of `pushfarm status`.
    func line(_ host: String) async throws -> Status.Host {
        let status = try Status(json: try await run(["status", "--json"], on: "alpha").output)
        return try #require(status.hosts.first { $0.host == host })
    }

    /// Returns the processes of a host's workers, when `pushfarm status` shows all of them as ready.
    func workers(_ host: String, count: Int = 2) async throws -> [pid_t] {
        try await eventually("the workers of \(host) are ready") {
            let workers = try await line(host).workers
            return workers.count == count && workers.allSatisfy { $0.state == "ready" }
                ? workers.map(\.pid) : nil
        }
    }
}
