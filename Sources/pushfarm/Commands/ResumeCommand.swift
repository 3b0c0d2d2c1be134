import ArgumentParser
import EventLoop
import FarmStore

struct ResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Lets a paused app or job, or all of them, go on.",
        discussion: """
            An app is paused by an operator; or when the gateway refuses its credentials,
            or when so many of its tokens are bad that they must be of the other
            environment. Its queue is kept. After a refusal it goes on by itself when the
            credential file changes; what an operator has paused does not.

            Example:
              pushfarm resume demo
              pushfarm resume order-4711
              pushfarm resume demo --shard 7
              pushfarm resume all
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var subject: SubjectOptions

    func run() throws {
        let isDryRun = subject.dryRun
        try subject.change("resume", common) { target, client throws(CommandFailure) in
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
}
