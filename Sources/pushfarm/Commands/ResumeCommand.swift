import ArgumentParser
import EventLoop
import StoreProtocol

struct ResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Resumes an app, a job, a host or a worker.",
        discussion: """
            An app is paused by an operator; or when the gateway refuses its credentials,
            or when so many of its tokens are bad that they must be of the other
            environment. Its queue is kept. After a refusal it goes on by itself when the
            credential file changes; what an operator has paused does not.

            A host that is quiet or drained takes part again; a quiet worker serves again.
            The name of an app wins over a host's, and a host's over a job's.

            Example:
              pushfarm resume demo
              pushfarm resume order-4711
              pushfarm resume demo --shard 7
              pushfarm resume all
              pushfarm resume alpha
              pushfarm resume alpha/0
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var subject: SubjectOptions

    func run() throws {
        let isDryRun = subject.dryRun
        if let target = try host() {
            let options = try OperatorOptions.parse(isDryRun ? ["--dry-run"] : [])
            return try common.operate(.resume, target.words, on: target.host, options)
        }
        try subject.change("resume", common, takesHosts: subject.shard == nil) {
            target, client throws(CommandFailure) in
            switch target {
            case .app(let app): try await AppHold(client: client, isDryRun: isDryRun).resume(app)
            case .shard(let shard, let app):
                try await ShardHold(client: client, isDryRun: isDryRun).serve(app, shard)
            case .job(let job, let app):
                try await JobHold(client: client, isDryRun: isDryRun).release(job, app, isPause: true)
            }
        } head: { lines in
            guard let only = lines.first, lines.count == 1, only.job == nil else { return [] }
            return [
                .init(name: "app", value: .string(only.app)),
                .init(name: "resumed", value: .bool(only.changed)),
            ]
        }
    }

    /// The host or worker that the name means; nil when it means an app, a job or all.
    private func host() throws -> OperatorTarget? {
        guard let name = subject.name, name != "all", subject.app == nil, subject.shard == nil,
            let target = OperatorTarget(argument: name)
        else { return nil }
        let configuration = try common.load()
        let isHost = try Loop.run { @Loop in
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            guard try await !client.apps().contains(name) else { return false }
            let hosts = try await client.ask { registry throws(RedisError) in try await registry.hosts() }
            return hosts.contains { $0.name == target.host && $0.endsIn > .zero }
        }
        return isHost ? target : nil
    }
}
