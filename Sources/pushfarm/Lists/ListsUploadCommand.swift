import ArgumentParser
import Campaigns
import EventLoop
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

    @OptionGroup var options: ListFileOptions

    @Flag(help: "Validates the file, and uploads nothing.")
    var dryRun = false

    func validate() throws {
        guard SavedSegment.isName(name) else {
            throw ValidationError(
                "A list's name has 1 to 64 letters, digits, dots, hyphens and underscores, begins with a letter"
                    + " or a digit, and is not all.")
        }
    }

    func run() throws {
        let file = try ListFile(file, options)
        let configuration = try common.load()
        try Loop.run { @Loop in
            let end = EndSignal()
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            try await upload(file, client, until: end)
        }
    }

    @Loop private func upload(_ file: ListFile, _ client: FarmClient, until end: EndSignal) async throws {
        let app = try await client.chosenApp(choice.app)
        try await client.mustHave(app: app)
        let upload = try await file.upload(
            as: name, to: ListStore(client: client, app: app), isDryRun: dryRun, reuses: false,
            quiet: common.json, until: end)
        Console(json: common.json).show(
            upload.json(app: app, isDryRun: dryRun), upload.text(app: app, isDryRun: dryRun))
        ListFile.print(upload.faults)
        if upload.list.refused > 0 { throw CommandFailure.failed() }
    }
}

extension UploadedList {
    /// The number of rows of each time zone.
    var rowsByZone: [String: Int] {
        Dictionary(groups.compactMap { group in group.zone.map { ($0, group.rows) } }) { $0 + $1 }
    }

    var rowsWithoutZone: Int { groups.first { $0.zone == nil }?.rows ?? 0 }
}
