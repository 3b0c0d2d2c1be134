import ArgumentParser
import EventLoop

struct ResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Ends a pause, a quiet state, a drain or a quarantine.",
        discussion: """
            An app can be paused by an operator or by the farm. The farm pauses an app when
            the gateway refuses the app's credentials, or when too many of the app's tokens
            are invalid. When the app's credential file changes, the farm ends its own
            pause of the app. The farm never ends an operator's pause.

            With the name of a quiet or drained host, or of a quiet worker, the command
            lets the host or worker take new work again. The command refuses a name that
            fits more than one of app, host and job; use --app, --host or --job for such a
            name.

            With --quarantined, the command also ends the quarantine of jobs, batches and
            shards that crashed workers. With --quarantined and an app or "all", the
            command also resumes paused tokens.

            Example:
              pushfarm resume demo
              pushfarm resume order-4711
              pushfarm resume --shard 7 --app demo
              pushfarm resume --token 00fc13adff785122b4ad2880 --app demo
              pushfarm resume all
              pushfarm resume alpha
              pushfarm resume --host alpha/0
              pushfarm resume --quarantined all
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var subject: SubjectOptions

    @Option(help: ArgumentHelp("A host, or HOST/N for one of its workers.", valueName: "name"))
    var host: OperatorTarget?

    @Flag(help: "Resumes quarantined jobs, batches and shards.")
    var quarantined = false

    func validate() throws {
        guard !subject.isEmpty || host != nil else {
            throw ValidationError("Name an app, a job, a host, --token, --shard, or \"all\".")
        }
        if host != nil, !subject.isEmpty {
            throw ValidationError("With --host, name no app, job, token or shard.")
        }
        if quarantined, host != nil || subject.token != nil || subject.shard != nil {
            throw ValidationError("With --quarantined, name only an app, a job or \"all\".")
        }
    }

    func run() throws {
        if quarantined {
            return try subject.change("resume", common, options: ["--quarantined"]) {
                pauses, target throws(CommandFailure) in
                let line = try await pauses.endQuarantine(target)
                if case .app = target { try await pauses.endShardQuarantines() }
                return line
            }
        }
        if let target = try host ?? hostOfName() {
            let options = try OperatorOptions.parse(subject.dryRun ? ["--dry-run"] : [])
            return try common.operate(.resume, target.words, on: target.host, options)
        }
        try subject.change("resume", common, takesHosts: true) { pauses, target throws(CommandFailure) in
            try await pauses.resume(target)
        } head: { lines in
            guard let only = lines.first, lines.count == 1 else { return [] }
            if case .job = only.target { return [] }
            return [
                .init(name: "app", value: .string(only.target.app)),
                .init(name: "resumed", value: .bool(only.changed)),
            ]
        }
    }

    /// The host or worker with the given name, or nil when no living host has this name.
    private func hostOfName() throws -> OperatorTarget? {
        guard let name = subject.name, name != "all", subject.app == nil, subject.shard == nil,
            let target = OperatorTarget(argument: name)
        else { return nil }
        let isHost = try common.withClient { client in
            guard try await OperatorClient.liveHosts(client).contains(target.host) else { return false }
            let apps = try await client.apps()
            var choices = apps.contains(name) ? ["--app \(name)"] : []
            for job in try await client.jobRecords(ofJob: name, in: apps) {
                choices.append("--job \(name) --app \(job.app)")
            }
            if !choices.isEmpty { throw CommandFailure.ambiguous(name, choices + ["--host \(name)"]) }
            return true
        }
        return isHost ? target : nil
    }
}
