import ArgumentParser
import Campaigns
import EventLoop
import PushModel
import StoreProtocol

struct CampaignsCreateCommand: ParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Stores a campaign as a draft, or starts it at once.",
        discussion: """
            Checks the definition first. A fault is reported with its line, column and
            field, and nothing is stored. A definition without an id gets a new id, which
            the command prints. The draft waits for pushfarm campaigns start.

            With --tokens-file, the command first uploads a CSV or NDJSON file as the list
            that the definition names. Rows that are not valid are written to
            TOKENS-FILE.refused, with line number and reason. Then the campaign stays a
            draft, even with --start, and the exit status is 1. After Control-C or "kill
            -9", run the same command again. It does not upload a finished list again.

            Example:
              pushfarm campaigns create edition.json --app demo
              pushfarm campaigns create issue.json --tokens-file all.csv --app demo
              pushfarm campaigns create - --app demo --start
              pushfarm campaigns create edition.json --app demo --dry-run
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Argument(
        help: ArgumentHelp("A file with the definition, or - for standard input.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var file: String

    @Option(
        help: ArgumentHelp("The app. Not needed when only one app is configured.", valueName: "name"),
        completion: .apps)
    var app: String?

    @Option(
        help: ArgumentHelp("A file that is uploaded as the list of the campaign.", valueName: "tokens-file"),
        completion: .file(extensions: ["csv", "ndjson"]))
    var tokensFile: String?

    @OptionGroup var listOptions: ListFileOptions

    @Flag(help: "Starts the campaign, if its plan fits.")
    var start = false

    @Flag(help: "Shows what the command would do, and changes nothing.")
    var dryRun = false

    func validate() throws {
        if tokensFile == "-" { throw ValidationError("--tokens-file must name a file.") }
        guard tokensFile == nil, !listOptions.isEmpty else { return }
        throw ValidationError("Options for the columns and rows of a list need --tokens-file.")
    }

    func run() throws {
        let configuration = try common.load()
        // The files' errors are shown even if Redis is unreachable.
        let definition = try CampaignFile(file, app: app, configuration)
        if let tokensFile { _ = try ListFile(tokensFile, listOptions) }
        try configuration.withClient { client in
            try await run(definition, client, Console(json: common.json))
        }
    }

    @Loop private func run(
        _ definition: CampaignFile, _ client: FarmClient, _ console: Console
    ) async throws {
        let app = try await client.chosenApp(self.app)
        try await client.mustHave(app: app)
        let zones = CampaignZones()
        let (campaign, lane) = try definition.campaign(app: app, client.configuration.app(named: app), zones)
        let id = campaign.id ?? JobDraft.freshID()
        try await refuseKnown(id, app, client)
        let upload = try await uploadList(of: campaign, app, client)
        let hasRefusals = (upload?.list.refused ?? 0) > 0
        let starts = start && !hasRefusals
        if starts {
            _ = try await CampaignPlanner(client: client, app: app, zones: zones).plan(
                campaign, list: upload?.list)
        }
        if !dryRun {
            let fields = [
                (
                    CampaignRecord.Field.definition.rawValue,
                    String(decoding: campaign.definition, as: UTF8.self)
                ),
                (CampaignRecord.Field.createdBy.rawValue, OperatorName.current),
                (CampaignField.lane.rawValue, lane.name),
            ]
            let change = ChangeCampaign.create(id, name: JobDraft.freshID(), isDraft: !starts, fields: fields)
            try await client.change(
                change, of: StoredCampaign(app: app, id: id, record: CampaignRecord(fields: [:])))
            try await client.note(
                ["campaigns", "create", id, "--app", app] + (starts ? ["--start"] : []),
                starts ? "started" : "created")
        }
        show(id, app, starts: starts, upload, console)
        if hasRefusals { throw CommandFailure.failed() }
    }

    /// Uploads the file of `--tokens-file`; nil without this option.
    @Loop private func uploadList(
        of campaign: Campaign, _ app: String, _ client: FarmClient
    ) async throws(CommandFailure) -> ListFile.Upload? {
        guard let tokensFile else { return nil }
        guard case .list(let name) = campaign.audience else {
            throw .usage("--tokens-file needs a definition with \"list\", the name of the uploaded list")
        }
        return try await ListFile(tokensFile, listOptions).upload(
            as: name, to: ListStore(client: client, app: app), isDryRun: dryRun, reuses: true,
            quiet: common.json, until: EndSignal())
    }

    private func show(
        _ id: String, _ app: String, starts: Bool, _ upload: ListFile.Upload?, _ console: Console
    ) {
        let verb = starts ? "started" : "created"
        var text = upload?.text(app: app, isDryRun: dryRun) ?? ""
        text += "\(app): campaign \(PlainText.of(id)) \(dryRun ? "would be \(verb)" : verb)"
        if start, !starts { text += ", and not started because rows were refused" }
        console.show(
            .object([
                "app": .string(app), "id": .string(id), "state": .string(starts ? "scheduled" : "draft"),
                "list": upload?.json(app: app, isDryRun: dryRun) ?? .null, "dry_run": .bool(dryRun),
            ]), text + "\n")
        if let upload { ListFile.print(upload.faults) }
    }

    @Loop private func refuseKnown(_ id: String, _ app: String, _ client: FarmClient)
        async throws(CommandFailure)
    {
        if let known = try await client.campaign(id, app) {
            throw .failed("\(known.name) exists already: \(known.record.state?.rawValue ?? "unknown state")")
        }
        if let job = try await client.jobRecord(id, app), job.state != .finished {
            throw .failed("\(app) has an open job with the id \(PlainText.of(id)); use another id")
        }
    }
}
