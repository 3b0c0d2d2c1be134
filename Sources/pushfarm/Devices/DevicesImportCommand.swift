import ArgumentParser
import EventLoop
import FarmLogging
import PushModel
import Registry

struct DevicesImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Imports devices from a CSV or NDJSON file.",
        discussion: """
            An NDJSON file has one device input on each line. The first line of a CSV file
            names the columns: id, token, user, tags (separated by spaces), zone, lang, …
            The page docs/devices.md describes all fields. The import replaces a device
            that is already registered.

            The command writes each record that is not valid to FILE.refused, with line
            number and reason. Correct these records and import FILE.refused. After
            Control-C or "kill -9", run the same command again to continue. The exit status
            is 1 when a record was refused, and 75 when the command must be run again.

            Example:
              pushfarm devices import devices.csv --app demo
              zcat devices.gz | pushfarm devices import - --format ndjson --app demo
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var choice: DeviceAppOptions

    @Argument(help: "The file, or \"-\" for standard input.")
    var file: String

    @Option(
        help: ArgumentHelp(
            "The format: csv or ndjson. Default: the format that the file's ending names: .csv, .ndjson, .jsonl or .json.",
            valueName: "format"))
    var format: String?

    @Option(help: ArgumentHelp("The file for refused records. Default: FILE.refused.", valueName: "file"))
    var refused: String?

    @Option(help: ArgumentHelp("The file for the progress. Default: FILE.progress.", valueName: "file"))
    var state: String?

    @Option(
        reads: ArgumentHelp(
            "The number of unprocessed device inputs above which the command waits for the farm.",
            valueName: "n"))
    var backlog = 50_000

    @Option(reads: ArgumentHelp("The longest time of one wait for the farm.", valueName: "duration"))
    var timeout = DurationOption(seconds: 600)

    @Flag(help: "Starts over and replaces the files of an interrupted import.")
    var startOver = false

    @Flag(help: "Validates the file, and changes nothing.")
    var dryRun = false

    func validate() throws {
        guard (1...10_000_000).contains(backlog) else {
            throw ValidationError("--backlog must be from 1 to 10000000.")
        }
        try timeout.check("--timeout", 1...86_400)
        guard let format, ImportFormat(rawValue: format) == nil else { return }
        throw ValidationError("--format must be csv or ndjson.")
    }

    func run() throws {
        try TextFile.check(readable: file)
        guard let format = format.flatMap(ImportFormat.init(rawValue:)) ?? ImportFormat(ending: file)
        else { throw CommandFailure.usage("\(file): give --format csv or --format ndjson") }
        // A wrong header is reported before a connection is made.
        if file != "-" { _ = try ImportRecords.open(file, format: format) }
        let configuration = try common.load()
        try Loop.run { @Loop in
            let end = EndSignal()
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            try await load(format, client, until: end)
        }
    }

    @Loop private func load(
        _ format: ImportFormat, _ client: FarmClient, until end: EndSignal
    ) async throws {
        let app = try await client.chosenApp(choice.app)
        try await client.mustHave(app: app)
        var records = try ImportRecords.open(file, format: format)
        let files = try files(app, format, records.header)
        // A new import has the offset 0, and `open` has already read past the CSV header. So only a continued import
        // must seek.
        let progress = files.progress
        if progress.offset > records.offset {
            try records.seek(to: progress.offset, lines: progress.lines)
        }
        let run = DeviceImport(
            client: client,
            plan: .init(
                app: app, rules: DeviceInputRules(), backlog: backlog, timeout: timeout.duration,
                isDryRun: dryRun),
            files: files,
            bar: ProgressLine(
                dryRun ? "validating" : "importing", total: records.byteCount ?? 0, quiet: common.json,
                plainPause: .seconds(10)))
        var failure: CommandFailure?
        do throws(CommandFailure) { try await run.run(records) { end.isGiven } } catch { failure = error }
        if failure == nil { try files.finish() }
        show(files)
        if let failure { throw failure }
        if files.progress.refused > 0 { throw CommandFailure.failed() }
    }

    private func files(
        _ app: String, _ format: ImportFormat, _ header: [UInt8]?
    ) throws(CommandFailure) -> DeviceImportFiles {
        let isPlain = file != "-" && !dryRun
        let paths = DeviceImportFiles.Paths(
            input: file, refused: dryRun ? nil : refused ?? (isPlain ? file + ".refused" : nil),
            state: isPlain ? state ?? file + ".progress" : nil)
        let fingerprint = isPlain ? try DeviceImportProgress.fingerprint(of: file) : 0
        return try DeviceImportFiles(
            paths, fresh: DeviceImportProgress(app: app, fingerprint: fingerprint, format: format),
            header: header, startOver: startOver)
    }

    private func show(_ files: DeviceImportFiles) {
        let (pushed, refused) = (files.progress.pushed, files.progress.refused)
        let place = files.refusedPath.map { " (see \($0))" } ?? ""
        Console(json: common.json).show(
            .object([
                "pushed": .number(pushed), "refused": .number(refused),
                "refused_file": .text(refused > 0 ? files.refusedPath : nil), "dry_run": .bool(dryRun),
            ]),
            "\(Figures.counted(pushed, "device input", "device inputs")) \(dryRun ? "valid" : "pushed")"
                + (refused > 0 ? ", \(Figures.counted(refused, "record", "records")) refused\(place)" : "")
                + "\n")
        guard files.refusedPath == nil else { return }
        for (line, fault) in files.faults {
            let field = fault.field.isEmpty ? "" : ", \(fault.field)"
            let text = PlainText.screened("line \(line)\(field): \(fault.reason)\n")
            Terminal.write(text, to: Terminal.standardError)
        }
    }
}
