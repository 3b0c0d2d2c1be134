import ArgumentParser
import EventLoop

struct RefusedRetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Submits a refused job again, unchanged or corrected.",
        discussion: """
            It leaves the refused jobs in the same step. What would be refused again
            stays, and so does one of which only the first 64 KiB are kept: give the
            whole job with --file.

            Example:
              pushfarm refused show 1780000000123-0 --original > job.json
              pushfarm refused retry 1780000000123-0 --file job.json
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Argument(help: "Its id, as refused list names it.")
    var id: String

    @Option(help: ArgumentHelp("The app, when several are there.", valueName: "name"), completion: .apps)
    var app: String?

    @Option(help: ArgumentHelp("The job that goes in instead; - is standard input.", valueName: "file"))
    var file: String?

    @Flag(help: "Says what would be done, and does nothing.")
    var dryRun = false

    func run() throws {
        let corrected = try file.map { file throws(CommandFailure) in Array(try TextFile.read(file).utf8) }
        let (id, app, dryRun) = (id, app, dryRun)
        let done = try common.withClient { client in
            return try await RefusedJobStore.retry(id, app, corrected: corrected, isDry: dryRun, client)
        }
        Console(json: common.json).show(
            .object([
                "id": .string(id), "app": .string(done.app), "job": .string(done.job),
                "dry_run": .bool(dryRun),
            ]),
            "\(id) \(dryRun ? "would be" : "is") in the inbox of \(done.app) again\n")
    }
}
