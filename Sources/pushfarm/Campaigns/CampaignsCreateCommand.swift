import ArgumentParser
import Campaigns
import EventLoop
import PushModel
import StoreProtocol

struct CampaignsCreateCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Stores a campaign as a draft, or starts it at once.",
        discussion: """
            Checks the definition first. A fault is reported with its line, column and
            field, and nothing is stored. A definition without an id gets a new id, which
            the command prints. The draft waits for pushfarm campaigns start.

            Example:
              pushfarm campaigns create edition.json --app demo
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

    @Flag(help: "Starts the campaign, if its plan fits.")
    var start = false

    @Flag(help: "Shows what the command would do, and changes nothing.")
    var dryRun = false

    func check() throws(CommandFailure) { try TextFile.check(readable: file) }

    func run(_ client: FarmClient, _ console: Console) async throws {
        let app = try await client.chosenApp(self.app)
        try await client.mustHave(app: app)
        let zones = CampaignZones()
        let (campaign, lane) = try CampaignFile.read(
            file, app: app, client.configuration.app(named: app), zones)
        let id = campaign.id ?? JobDraft.freshID()
        try await refuseKnown(id, app, client)
        if start { _ = try await CampaignPlanner(client: client, app: app, zones: zones).plan(campaign) }
        if !dryRun {
            let fields = [
                (
                    CampaignRecord.Field.definition.rawValue,
                    String(decoding: campaign.definition, as: UTF8.self)
                ),
                (CampaignRecord.Field.createdBy.rawValue, OperatorName.current),
                (CampaignField.lane.rawValue, lane.name),
            ]
            let change = ChangeCampaign.create(id, name: JobDraft.freshID(), isDraft: !start, fields: fields)
            try await client.change(
                change, of: StoredCampaign(app: app, id: id, record: CampaignRecord(fields: [:])))
            try await client.note(
                ["campaigns", "create", id, "--app", app] + (start ? ["--start"] : []),
                start ? "started" : "created")
        }
        let verb = start ? "started" : "created"
        console.show(
            .object([
                "app": .string(app), "id": .string(id), "state": .string(start ? "scheduled" : "draft"),
                "dry_run": .bool(dryRun),
            ]), "\(app): campaign \(PlainText.of(id)) \(dryRun ? "would be \(verb)" : verb)\n")
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
