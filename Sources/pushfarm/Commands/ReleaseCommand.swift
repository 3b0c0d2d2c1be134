import ArgumentParser
import EventLoop
import FarmStore

struct ReleaseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Lets parked jobs, batches and shards go on.",
        discussion: """
            A job is parked when its pushes ended workers again and again; a batch
            when it ended them before anything was sent. Nothing of them is lost: they
            wait. Without a job all of them go on, and shards that wait after crashes.

            Example:
              pushfarm release order-4711
              pushfarm release --app demo
            """)

    @OptionGroup var common: CommonOptions

    @Argument(help: "The job's id; all that is parked without it.")
    var job: String?

    @Option(help: ArgumentHelp("Only this app's.", valueName: "name"))
    var app: String?

    func run() throws {
        let configuration = try common.load()
        let (job, app) = (job, app)
        let (jobs, batches) = try Loop.run { @Loop in
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            let known = try await client.apps()
            if let app, !known.contains(app) {
                throw CommandFailure.usage("there is no app \(app) in this farm")
            }
            var (jobs, batches) = (0, 0)
            for name in known where app == nil || app == name {
                var next: Int? = 0
                while let start = next {
                    let reply = try await client.call(Release(job: job, start: start), name)
                    jobs += reply.jobs
                    batches += reply.batches
                    next = reply.next
                }
            }
            if job == nil {
                _ = try await client.ask { registry throws(RedisError) in
                    try await registry.announce(Array(HostCommand.release.text.utf8))
                }
            }
            return (jobs, batches)
        }
        Console(json: common.json).show(
            .object(["jobs": .number(jobs), "batches": .number(batches)]),
            "\(jobs) jobs and \(batches) batches go on\n")
    }
}
