import EventLoop
import FarmConfiguration

/// The changes that a command made, one line per subject.
struct ChangeReport: Sendable {
    struct Line: Sendable {
        let target: PauseTarget
        /// Whether the command changed the state.
        let changed: Bool
        /// The change in the text output: "paused", "was paused already".
        let text: String
        /// Additional fields of the JSON output.
        var more: [JSONValue.Field] = []

        var json: JSONValue {
            let fields = JSONValue.fields(["app": .string(target.app), "changed": .bool(changed)])
            return .object(fields + (target.field.map { [$0] } ?? []) + more)
        }
    }

    /// The command's name, such as "pause".
    let command: String
    var isDryRun = false
    var lines: [Line] = []
    /// A remark that follows the lines of the text output.
    var note: String?
    /// The replies of the notified hosts, or nil when no host was notified.
    var outcome: OperatorClient.Outcome?
    /// The first fields of the JSON output.
    var head: [JSONValue.Field] = []

    /// Makes a lasting change, notifies the coordinators and shows the result.
    /// - Parameter change: makes the change and adds the lines of the report. Returns the words for the audit log, or
    ///   nil when no coordinator needs a notification.
    /// - Throws: status 3 when a host has not replied. That host applies the change at its next read of Redis.
    static func make(
        _ command: String, isDryRun: Bool, _ configuration: Configuration, _ console: Console,
        _ change: @escaping @Loop (inout ChangeReport, FarmClient) async throws -> [String]?
    ) throws {
        let report = try configuration.withClient { client in
            var report = ChangeReport(command: command, isDryRun: isDryRun)
            if let words = try await change(&report, client) {
                try await report.notifyHosts([command] + words, client, console)
            }
            return report
        }
        report.show(console)
        try report.outcome?.requireReplies()
    }

    private func show(_ console: Console) {
        let prefix = isDryRun ? "would change: " : ""
        var text = lines.map { "\(prefix)\($0.target.text) \($0.text)\n" }.joined()
        if let outcome {
            let done = outcome.replies.count { $0.state == .done }
            let hosts = Set(outcome.replies.map(\.host) + outcome.silent).count
            text += "\(done) of \(hosts) host\(hosts == 1 ? "" : "s") done\n"
        }
        if let note { text += note + "\n" }
        console.show(
            .object(
                head
                    + JSONValue.fields([
                        "command": .string(command), "dry_run": .bool(isDryRun),
                        "changes": .array(lines.map(\.json)), "hosts": outcome?.hostsJSON ?? .array([]),
                        "silent": .strings(outcome?.silent ?? []),
                    ])), text)
    }

    /// Notifies the hosts if anything has changed.
    @Loop private mutating func notifyHosts(
        _ words: [String], _ client: FarmClient, _ console: Console
    ) async throws(CommandFailure) {
        guard !isDryRun, lines.contains(where: \.changed) else { return }
        outcome = try await OperatorClient.refreshHosts(words, client, console)
        if outcome == nil {
            note =
                (note.map { $0 + "\n" } ?? "")
                + "No coordinator is running: the next coordinator applies the change."
        }
    }
}

extension OperatorClient.Outcome {
    /// - Throws: status 3 when a host has not replied. That host applies the change at its next read of Redis.
    func requireReplies() throws(CommandFailure) {
        guard !silent.isEmpty else { return }
        throw CommandFailure(
            status: .partly,
            message:
                "the change is stored, but these hosts have not confirmed it: \(silent.joined(separator: ", "))"
        )
    }
}
