import ArgumentParser
import EventLoop
import StoreProtocol

struct PromoteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "promote",
        abstract: "Sends a job's delayed pushes now.",
        discussion: """
            Pushes that wait for deliver_at or for a retry go to the end of the queue at
            once. Other jobs' pushes stay where they are.

            Example:
              pushfarm promote campaign-7
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @OptionGroup var choice: JobChoice

    @Flag(help: "Says what would be done, and changes nothing.")
    var dryRun = false

    func run() throws {
        let (configuration, job, app, dryRun) = (try common.load(), choice.job, choice.app, dryRun)
        let (name, pushes) = try configuration.withClient { client in
            let name = try await client.app(ofJob: job, app: app)
            guard let jobRecord = try await client.jobRecord(job, name) else {
                throw CommandFailure.failed("job \(job) is still in the inbox of \(name)")
            }
            if dryRun { return (name, jobRecord.waiting) }
            var (pushes, next) = (0, Int?.some(0))
            while let start = next {
                let reply = try await client.call(MakeDue(job: job, start: start), name)
                pushes += reply.pushes
                next = reply.next
            }
            try await OperatorClient.record(["promote", job, "--app", name], client)
            return (name, pushes)
        }
        let verb = dryRun ? "would become due now" : pushes == 1 ? "is due now" : "are due now"
        Console(json: common.json).show(
            .object([
                "app": .string(name), "job": .string(job), "pushes": .number(pushes),
                "changed": .bool(pushes > 0), "dry_run": .bool(dryRun),
            ]),
            pushes == 0
                ? "job \(job) of \(name) has no delayed pushes\n"
                : "\(Figures.counted(pushes, "push", "pushes")) of job \(job) of \(name) \(verb)\n")
    }
}
