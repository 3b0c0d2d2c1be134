import EventLoop
import FarmConfiguration

/// What a command has changed, one line a subject.
struct ChangeReport: Sendable {
    struct Line: Sendable {
        let target: PauseTarget
        /// Something is otherwise than before.
        let changed: Bool
        /// For a person: "paused", "was paused already".
        let text: String
        /// More fields for programs.
        var more: [JSONValue.Field] = []

        var json: JSONValue {
            let fields = JSONValue.fields(["app": .string(target.app), "changed": .bool(changed)])
            return .object(fields + (target.field.map { [$0] } ?? []) + more)
        }
    }

    /// The command's word, such as "pause".
    let command: String
    var isDryRun = false
    var lines: [Line] = []
    /// Something that a person should know besides.
    var note: String?
    /// What the hosts answered that were told to follow it at once; nil when no host was told.
    var outcome: OperatorClient.Outcome?
    /// Fields that stand first for programs.
    var head: [JSONValue.Field] = []

    /// Makes a change that is to last, has the coordinators follow it at once, and says what came of it.
    /// - Parameter change: fills in the lines; returns what was done for the record of operations, nil when no coordinator
    ///   need hear of it.
    /// - Throws: status 3 when a host has not answered: it follows by itself as soon as it looks at Redis.
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
        try report.outcome?.mustBeFollowed()
    }

    private func show(_ console: Console) {
        let prefix = isDryRun ? "would change: " : ""
        var text = lines.map { "\(prefix)\($0.target.text) \($0.text)\n" }.joined()
        if let outcome {
            let done = outcome.answers.count { $0.state == .done }
            let hosts = Set(outcome.answers.map(\.host) + outcome.silent).count
            text += "\(done) of \(hosts) host\(hosts == 1 ? "" : "s") done\n"
        }
        if let note { text += note + "\n" }
        console.show(
            .object(
                head
                    + JSONValue.fields([
                        "command": .string(command), "dry_run": .bool(isDryRun),
                        "changes": .array(lines.map(\.json)), "hosts": outcome?.hostsJSON ?? .array([]),
                        "silent": .array((outcome?.silent ?? []).map { .string($0) }),
                    ])), text)
    }

    /// Tells the hosts, if anything is otherwise than before.
    @Loop private mutating func notifyHosts(
        _ words: [String], _ client: FarmClient, _ console: Console
    ) async throws(CommandFailure) {
        guard !isDryRun, lines.contains(where: \.changed) else { return }
        outcome = try await OperatorClient.followed(words, client, console)
        if outcome == nil {
            note = (note.map { $0 + "\n" } ?? "") + "No coordinator is running: it holds when one starts."
        }
    }
}

extension OperatorClient.Outcome {
    /// - Throws: status 3 when a host has not answered: it follows by itself as soon as it looks at Redis.
    func mustBeFollowed() throws(CommandFailure) {
        guard !silent.isEmpty else { return }
        throw CommandFailure(
            status: .partly,
            message: "it holds, but \(silent.joined(separator: ", ")) has not said that it follows it")
    }
}
