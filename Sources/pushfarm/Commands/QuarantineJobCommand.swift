import ArgumentParser
import EventLoop
import RedisClient
import StoreProtocol

struct QuarantineJobCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "job",
        abstract: "Pauses a job's pushes.",
        discussion: """
            Example:
              pushfarm quarantine job order-4711 --reason "crashes the app"
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var options: QuarantineOptions

    @OptionGroup var choice: JobChoice

    func run() throws {
        let (configuration, job, app) = (try common.load(), choice.job, choice.app)
        let (reason, dryRun) = (try options.line(), options.dryRun)
        try ChangeReport.make("quarantine", isDryRun: dryRun, configuration, Console(json: common.json)) {
            report, client in
            let name = try await client.app(ofJob: job, app: app)
            let hold = JobHold(client: client, isDryRun: dryRun)
            report.lines = [try await hold.hold(job, name, .quarantine, reason: reason)]
            return ["job", job]
        }
    }
}
