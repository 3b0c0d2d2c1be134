import ArgumentParser
import Campaigns
import EventLoop

struct CampaignsDoneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "done",
        abstract: "Reports the devices of a file as done with a campaign.",
        discussion: """
            The file has one device id on each line. An NDJSON file has JSON strings, or
            objects with the id in a field; a CSV file has the id in a column. Devices that
            are done get no further push of the campaign. Ids of devices that are not in
            the audience are ignored.

            The command writes each line without a valid id to FILE.refused, with line
            number and reason. After an interruption, run the same command again: repeated
            ids change nothing. The exit status is 1 when a line was refused, and 75 when
            the command must be run again.

            Example:
              pushfarm campaigns done ed-2026-11-24 --file done.txt
              pushfarm campaigns done ed-2026-11-24 --file out.csv --id-column device
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var choice: CampaignChoice

    @Option(help: ArgumentHelp("The file, or \"-\" for standard input.", valueName: "file"))
    var file: String

    @Option(
        help: ArgumentHelp(
            "The format: ids, csv or ndjson. Default: the format that the file's ending names, or ids.",
            valueName: "format"))
    var format: String?

    @Option(help: ArgumentHelp("The column or field with the id. Default: id.", valueName: "name"))
    var idColumn: String?

    @Option(help: ArgumentHelp("The file for refused lines. Default: FILE.refused.", valueName: "file"))
    var refused: String?

    @Option(
        reads: ArgumentHelp(
            "The number of unprocessed reports, each of 1,000 devices, at which the command waits for the farm.",
            valueName: "n"))
    var backlog = 100

    @Option(reads: ArgumentHelp("The longest time of one wait for the farm.", valueName: "duration"))
    var timeout = DurationOption(seconds: 600)

    @Flag(help: "Validates the file, and changes nothing.")
    var dryRun = false

    func validate() throws {
        guard (1...1_000_000).contains(backlog) else {
            throw ValidationError("--backlog must be from 1 to 1000000.")
        }
        try timeout.check("--timeout", 1...86_400)
        guard let format, DeviceIDFile.Format(rawValue: format) == nil else { return }
        throw ValidationError("--format must be ids, csv or ndjson.")
    }

    func run() throws {
        // The file's errors are shown even if Redis is unreachable.
        let ids = try DeviceIDFile(file, format: format, column: idColumn ?? "id")
        let configuration = try common.load()
        try Loop.run { @Loop in
            let end = EndSignal()
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            try await report(ids, client, until: end)
        }
    }

    @Loop private func report(_ ids: DeviceIDFile, _ client: FarmClient, until end: EndSignal) async throws {
        let stored = try await client.campaign(choice)
        try Self.check(stored)
        let records = try ids.records()
        let path = dryRun ? nil : refused ?? (file == "-" ? nil : file + ".refused")
        let refusals = try ListRefusals(path, input: file, header: records.header)
        let run = DoneImport(
            client: client,
            plan: .init(
                app: stored.app, campaign: stored.id, backlog: backlog, timeout: timeout.duration,
                isDryRun: dryRun),
            refusals: refusals,
            bar: ProgressLine(
                dryRun ? "validating" : "reporting", total: records.byteCount ?? 0,
                quiet: common.json, plainPause: .seconds(10)))
        var failure: CommandFailure?
        do throws(CommandFailure) {
            try await run.run(records, of: ids) { end.isGiven }
            if !dryRun {
                try await client.note(
                    ["campaigns", "done", stored.id, "--app", stored.app],
                    "reported \(Figures.counted(run.pushed, "device", "devices"))")
            }
            try refusals.finish()
        } catch { failure = error }
        show(stored, run, refusals)
        if let failure { throw failure }
        if refusals.count > 0 { throw CommandFailure.failed() }
    }

    /// Checks that devices can be done with a campaign.
    private static func check(_ stored: StoredCampaign) throws(CommandFailure) {
        guard stored.record.list == nil else {
            throw .failed("\(stored.name) sends to an uploaded list, so its devices have no ids")
        }
        guard let state = stored.record.state, [.scheduled, .running, .finished].contains(state) else {
            throw .failed("\(stored.name) is \(stored.record.state?.rawValue ?? "in an unknown state")")
        }
    }

    @Loop private func show(_ stored: StoredCampaign, _ run: DoneImport, _ refusals: ListRefusals) {
        let place = refusals.path.map { " (see \($0))" } ?? ""
        let refused =
            refusals.count > 0 ? ", \(Figures.counted(refusals.count, "line", "lines")) refused\(place)" : ""
        Console(json: common.json).show(
            .object([
                "app": .string(stored.app), "id": .string(stored.id), "reported": .number(run.pushed),
                "refused": .number(refusals.count),
                "refused_file": .text(refusals.count > 0 ? refusals.path : nil), "dry_run": .bool(dryRun),
            ]),
            "\(stored.name): \(Figures.counted(run.pushed, "device", "devices")) "
                + "\(dryRun ? "valid" : "reported as done")\(refused)\n")
        if refusals.path == nil { ListFile.print(refusals.faults) }
    }
}
