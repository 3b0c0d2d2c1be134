import ArgumentParser
import Campaigns
import EventLoop
import FarmLogging
import POSIX
import Scheduling
import StoreProtocol

struct ListsUploadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upload",
        abstract: "Uploads a list from a CSV or NDJSON file.",
        discussion: """
            The first line of a CSV file names the columns. An NDJSON file has one JSON
            object on each line. The columns token, lang and zone have the token, the
            language and the time zone of a row; other columns can be named by options. All
            further columns are values: the column name is for {{name|there}} in a payload.

            A row whose token is already in the list is left out and counted. The command
            writes each row that is not valid to FILE.refused, with line number and reason.
            After Control-C or "kill -9", nothing is uploaded: run the same command again.
            The exit status is 1 when a row was refused, and 75 when the command must be
            run again.

            Example:
              pushfarm lists upload readers.csv --name readers --app demo
              pushfarm lists upload out.csv --name vip --token-column apns --zone-column tz
              zcat out.gz | pushfarm lists upload - --format ndjson --name vip --app demo
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var choice: DeviceAppOptions

    @Argument(help: "The file, or \"-\" for standard input.")
    var file: String

    @Option(help: ArgumentHelp("The name of the list.", valueName: "name"))
    var name: String

    @Option(
        help: ArgumentHelp(
            "The format: csv or ndjson. Default: the format that the file's ending names: .csv, .ndjson, .jsonl or .json.",
            valueName: "format"))
    var format: String?

    @Option(help: ArgumentHelp("The column of the token. Default: token.", valueName: "name"))
    var tokenColumn: String?

    @Option(help: ArgumentHelp("The column of the language. Default: lang.", valueName: "name"))
    var langColumn: String?

    @Option(help: ArgumentHelp("The column of the time zone. Default: zone.", valueName: "name"))
    var zoneColumn: String?

    @Option(help: ArgumentHelp("The file for refused rows. Default: FILE.refused.", valueName: "file"))
    var refused: String?

    @Flag(help: "Validates the file, and uploads nothing.")
    var dryRun = false

    func validate() throws {
        guard SavedSegment.isName(name) else {
            throw ValidationError(
                "A list's name has 1 to 64 letters, digits, dots, hyphens and underscores, begins with a letter"
                    + " or a digit, and is not all.")
        }
        guard Set([columns.token, columns.lang, columns.zone]).count == 3 else {
            throw ValidationError("Two options name the same column.")
        }
        guard let format, DeviceFileFormat(rawValue: format) == nil else { return }
        throw ValidationError("--format must be csv or ndjson.")
    }

    private var columns: ListRowParser.Columns {
        ListRowParser.Columns(
            token: tokenColumn ?? "token", lang: langColumn ?? "lang", zone: zoneColumn ?? "zone")
    }

    func run() throws {
        try TextFile.check(readable: file)
        guard let format = format.flatMap(DeviceFileFormat.init(rawValue:)) ?? DeviceFileFormat(ending: file)
        else { throw CommandFailure.usage("\(file): give --format csv or --format ndjson") }
        // A wrong header is reported before a connection is made.
        if file != "-" { _ = try records(format) }
        let configuration = try common.load()
        try Loop.run { @Loop in
            let end = EndSignal()
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            try await upload(format, client, until: end)
        }
    }

    private func records(_ format: DeviceFileFormat) throws(CommandFailure) -> DeviceFileRecords {
        let required = [columns.token] + [langColumn, zoneColumn].compactMap(\.self)
        return try DeviceFileRecords.open(file, format: format) { header throws(DeviceFileFault) in
            try ListColumns(header, required: required)
        }
    }

    /// Returns a function that returns why a text is not the name of a time zone of this machine.
    private static func zoneFault() -> (String) -> String? {
        let zones = ZoneCatalog { path in try? SmallFile.read(path) }
        // The search for a similar name is slow, and many rows may have the same wrong name.
        var known: [String: String?] = [:]
        return { name in
            if let fault = known[name] { return fault }
            var fault: String?
            do throws(ZoneError) { _ = try zones.rules(name) } catch { fault = error.description }
            if known.count < UploadedList.mostGroups { known[name] = .some(fault) }
            return fault
        }
    }

    @Loop private func upload(
        _ format: DeviceFileFormat, _ client: FarmClient, until end: EndSignal
    ) async throws {
        let app = try await client.chosenApp(choice.app)
        try await client.mustHave(app: app)
        let records = try records(format)
        let path = dryRun ? nil : refused ?? (file == "-" ? nil : file + ".refused")
        let refusals = try ListRefusals(path, input: file, header: records.header)
        let upload = ListUpload(
            .init(
                name: name, parser: ListRowParser(columns, zoneFault: Self.zoneFault()), isDryRun: dryRun),
            store: ListStore(client: client, app: app), refusals: refusals,
            bar: ProgressLine(
                dryRun ? "validating" : "uploading", total: records.byteCount ?? 0, quiet: common.json,
                plainPause: .seconds(10)))
        do {
            let list = try await upload.run(records) { end.isGiven }
            if !dryRun { try await client.note(["lists", "upload", name, "--app", app], "uploaded") }
            try refusals.finish()
            show(list, refusals, app)
        } catch {
            Self.print(refusals)
            throw error
        }
        if refusals.count > 0 { throw CommandFailure.failed() }
    }

    private func show(_ list: UploadedList, _ refusals: ListRefusals, _ app: String) {
        let place = refusals.path.map { " (see \($0))" } ?? ""
        var text = "\(app): list \(name) \(dryRun ? "would have" : "has") "
        text += "\(Figures.counted(list.rows, "row", "rows")) in "
        text += Figures.counted(list.groups.count { $0.zone != nil }, "time zone", "time zones")
        if list.duplicates > 0 {
            text += ", \(Figures.counted(list.duplicates, "duplicate", "duplicates")) left out"
        }
        if refusals.count > 0 {
            text += ", \(Figures.counted(refusals.count, "row", "rows")) refused\(place)"
        }
        Console(json: common.json).show(
            .object([
                "app": .string(app), "name": .string(name), "rows": .number(list.rows),
                "zones": .counts(list.rowsByZone), "without_zone": .number(list.rowsWithoutZone),
                "duplicates": .number(list.duplicates), "refused": .number(refusals.count),
                "refused_file": .text(refusals.count > 0 ? refusals.path : nil), "dry_run": .bool(dryRun),
            ]), text + "\n")
        Self.print(refusals)
    }

    /// Prints the first faults, if no file has them.
    private static func print(_ refusals: ListRefusals) {
        guard refusals.path == nil else { return }
        for (line, fault) in refusals.faults {
            let field = fault.field.isEmpty ? "" : ", \(fault.field)"
            let text = PlainText.screened("line \(line)\(field): \(fault.reason)\n")
            Terminal.write(text, to: Terminal.standardError)
        }
    }
}

extension UploadedList {
    /// The number of rows of each time zone.
    var rowsByZone: [String: Int] {
        Dictionary(groups.compactMap { group in group.zone.map { ($0, group.rows) } }) { $0 + $1 }
    }

    var rowsWithoutZone: Int { groups.first { $0.zone == nil }?.rows ?? 0 }
}
