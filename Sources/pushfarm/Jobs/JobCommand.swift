import ArgumentParser
import EventLoop
import StoreProtocol

struct JobCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "job",
        abstract: "Shows the record of one job.",
        discussion: """
            Example:
              pushfarm job order-4711 --wait --json

            Of an open job it says why pushes wait: a pause, their time, or a retry
            and its cause. Status 1 when there is no such job, or when it is finished
            and not all of it was delivered.
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @OptionGroup var choice: JobChoice

    @Flag(
        name: [.long, .customLong("watch")],
        help: "Waits until the job is finished; a terminal shows how far it is.")
    var wait = false

    func run() throws {
        let configuration = try common.load()
        let console = Console(json: common.json)
        let (id, app, wait) = (choice.job, choice.app, wait)
        let (jobRecords, delays) = try Loop.run {
            @Loop () async throws -> ([JobRecord], [String: [String]]) in
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            let apps = if let app { [app] } else { try await client.apps() }
            let found = try await client.jobRecords(ofJob: id, in: apps)
            guard let first = found.first else {
                if let app, wait {
                    return (try await JobRecordPoller(client: client, console: console).wait([id], app), [:])
                }
                throw try await client.noJob(id, in: apps)
            }
            guard found.count == 1 else { throw CommandFailure.several(found) }
            guard wait, first.state == .open else {
                return (found, [first.app: try await client.delays(of: first)])
            }
            return (try await JobRecordPoller(client: client, console: console).wait([id], first.app), [:])
        }
        try JobReport(jobRecords: jobRecords, console: console, delays: delays).show()
    }
}

/// Which job a command is about.
struct JobChoice: ParsableArguments {
    @Argument(help: "The job's id.")
    var job: String

    @Option(
        help: ArgumentHelp("The app, when several have a job of that id.", valueName: "name"),
        completion: .apps)
    var app: String?
}

extension FarmClient {
    /// The error for an unknown job: also the names of those that `pushfarm push` made of it, if it had more tokens than an
    /// app takes at a time.
    func noJob(_ id: String, in apps: [String]) async throws(CommandFailure) -> CommandFailure {
        var last: JobRecord?
        var count = 0
        while count < 10_000, let next = try await jobRecords(ofJob: "\(id).\(count + 1)", in: apps).first {
            (last, count) = (next, count + 1)
        }
        let place = apps.isEmpty ? "this farm" : apps.joined(separator: ", ")
        guard let last else { return .failed("there is no job \(id) in \(place)") }
        let names = count == 1 ? last.id : "\(id).1 to \(last.id)"
        return .failed(
            "there is no job \(id) in \(place), but \(names): push made them of it, and each is a job of its own"
        )
    }
}
