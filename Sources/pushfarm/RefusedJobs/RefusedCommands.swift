import ArgumentParser
import EventLoop
import FarmLogging
import StoreProtocol

struct RefusedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refused",
        abstract: "Lists, shows, resubmits and deletes refused jobs.",
        discussion: """
            The farm refuses a whole job when the job breaks a rule of the job contract.
            The farm keeps about the last 10,000 refused jobs of each app, and of each job
            the first 64 KiB.

            Example:
              pushfarm refused list
              pushfarm refused show 1780000000123-0
              pushfarm refused resubmit 1780000000123-0 --file corrected.json
              pushfarm refused drop 1780000000123-0
            """,
        subcommands: [
            RefusedListCommand.self, RefusedShowCommand.self, RefusedResubmitCommand.self,
            RefusedDropCommand.self,
        ],
        aliases: ["bad"])
}

struct RefusedListCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists refused jobs, the latest first.",
        discussion: """
            Example:
              pushfarm refused list --app demo --limit 20
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Option(help: ArgumentHelp("Only this app's refused jobs.", valueName: "name"), completion: .apps)
    var app: String?

    @Option(reads: ArgumentHelp("The largest number of refused jobs to list.", valueName: "count"))
    var limit = 50

    func validate() throws {
        guard (1...10_000).contains(limit) else { throw ValidationError("--limit must be from 1 to 10000.") }
    }

    func run(_ client: FarmClient, _ console: Console) async throws {
        let found = try await client.latest(
            limit, of: app, by: ReadRefused(.latest, count: limit), \.id)
        let now = try await client.clock().clampedMilliseconds
        console.show(
            .object(["refused": .array(found.map { $0.entry.jobJSON(app: $0.app) })]),
            Self.text(found.map { (app: $0.app, job: $0.entry) }, at: now, console.style))
    }

    static func text(
        _ found: [(app: String, job: RefusedEntry)], at now: Int64, _ style: TextStyle
    ) -> String {
        guard !found.isEmpty else { return "no refused jobs\n" }
        var table = Table([
            "ID": .right, "APP": .left, "AGE": .right, "JOB": .left, "FIELD": .left, "REASON": .left,
        ])
        for (app, job) in found {
            table.add(
                .init("\(job.id)"), .init(app),
                .init(Figures.brief(.milliseconds(max(0, now - job.id.milliseconds)))),
                .init(PlainText.of(job.subject)), .init(PlainText.of(job.field), .red),
                .init(
                    PlainText.of(job.reason, limit: .max)
                        + (job.count > 1 ? " (\(Figures.grouped(job.count)) jobs)" : ""))
            )
        }
        return table.text(style)
    }
}

struct RefusedShowCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows the original text of a refused job.",
        discussion: """
            Example:
              pushfarm refused show 1780000000123-0
              pushfarm refused show 1780000000123-0 --original > job.json
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @OptionGroup var choice: RefusedJobChoice

    @Flag(help: "Writes only the text of the job, byte for byte.")
    var original = false

    func run(_ client: FarmClient, _ console: Console) async throws {
        let (app, job) = try await client.refusedJob(choice.id, choice.app)
        if original {
            var sink = try TextSink(nil)
            try sink.write(bytes: job.original)
            return try sink.finish()
        }
        var table = Table(["": .left, "": .left])
        table.add(.init("app", .dim), .init(app))
        if !job.subject.isEmpty { table.add(.init("job", .dim), .init(PlainText.of(job.subject))) }
        table.add(.init("at", .dim), .init("\(Timestamp(milliseconds: job.id.milliseconds))"))
        table.add(.init("field", .dim), .init(PlainText.of(job.field), .red))
        table.add(.init("position", .dim), .init(Figures.grouped(job.position)))
        table.add(.init("reason", .dim), .init(PlainText.of(job.reason)))
        let size = Figures.bytes(Int64(job.original.count)) + (job.mayBeCut ? ", cut" : "")
        table.add(.init("size", .dim), .init(size))
        let text = String(decoding: job.original.prefix(2000), as: UTF8.self)
        console.show(
            job.jobJSON(app: app, original: true),
            table.text(console.style) + PlainText.of(text, limit: 2000) + "\n")
    }
}

/// The refused job that a command applies to.
struct RefusedJobChoice: ParsableArguments, Sendable {
    @Argument(reads: "The refused job's id, as \"pushfarm refused list\" shows it.")
    var id: EntryID

    @Option(
        help: ArgumentHelp("The app, if the farm has several apps.", valueName: "name"), completion: .apps)
    var app: String?
}

struct RefusedResubmitCommand: ParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "resubmit",
        abstract: "Submits a refused job again, unchanged or corrected.",
        discussion: """
            In the same step, the command submits the job and deletes the job from the list
            of refused jobs. A job that the farm would refuse again is not submitted, and
            stays in the list. If the farm has kept only the first 64 KiB of the job, give
            the whole job with --file.

            Example:
              pushfarm refused show 1780000000123-0 --original > job.json
              pushfarm refused resubmit 1780000000123-0 --file job.json
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @OptionGroup var choice: RefusedJobChoice

    @Option(
        help: ArgumentHelp("The file with the corrected job, or \"-\" for standard input.", valueName: "file")
    )
    var file: String?

    @Flag(help: "Shows what the command would do, and changes nothing.")
    var dryRun = false

    func run() throws {
        let corrected = try file.map { file throws(CommandFailure) in Array(try TextFile.read(file).utf8) }
        try common.withClient { client in try await resubmit(corrected, client, Console(json: common.json)) }
    }

    @Loop private func resubmit(_ corrected: [UInt8]?, _ client: FarmClient, _ console: Console) async throws
    {
        let (app, refused) = try await client.refusedJob(choice.id, choice.app)
        let (job, jobID) = try await client.resubmittedJob(refused, corrected: corrected, app)
        if !dryRun { try await client.takeOut(refused.id, app, replacedBy: job) }
        console.show(
            .object([
                "id": .string("\(refused.id)"), "app": .string(app), "job": .string(jobID ?? ""),
                "dry_run": .bool(dryRun),
            ]),
            "\(refused.id) \(dryRun ? "would be" : "is") in the inbox of \(app) again\n")
    }
}

struct RefusedDropCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Deletes refused jobs.",
        discussion: """
            Example:
              pushfarm refused drop 1780000000123-0
              pushfarm refused drop --all --app demo
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Argument(reads: "Ids of refused jobs, as \"pushfarm refused list\" shows them.")
    var ids: [EntryID] = []

    @Option(help: ArgumentHelp("Only this app's refused jobs.", valueName: "name"), completion: .apps)
    var app: String?

    @Flag(help: "Deletes all refused jobs.")
    var all = false

    @Flag(help: "Shows what the command would do, and changes nothing.")
    var dryRun = false

    func validate() throws {
        guard all != !ids.isEmpty else { throw ValidationError("Name ids or --all.") }
    }

    func run(_ client: FarmClient, _ console: Console) async throws {
        var found: [(app: String, id: EntryID)] = []
        for id in ids {
            let (app, job) = try await client.refusedJob(id, app)
            found.append((app, job.id))
        }
        for name in all ? try await client.apps(selectedBy: app) : [] {
            try await client.eachRefusedJob(of: name) { found.append((name, $0.id)) }
        }
        if !dryRun {
            for (app, id) in found { try await client.takeOut(id, app, replacedBy: nil) }
        }
        console.show(
            .object(["dropped": .number(found.count), "dry_run": .bool(dryRun)]),
            "\(Figures.grouped(found.count)) refused jobs \(dryRun ? "would be " : "")dropped\n")
    }
}
