import ArgumentParser
import Campaigns
import EventLoop

struct CampaignsPlanCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Shows when a campaign would send to how many devices.",
        discussion: """
            Counts the devices of the audience by zone and platform, and computes the
            first and the last push, the rate, the rounds, and the load on your own API. Also
            counts the devices that caps and quiet hours exclude now.
            Nothing is sent or stored. The argument is the file of a definition, - for
            standard input, or the id of a campaign that was created.

            Status 1, with the arithmetic, when the campaign does not fit into its window.

            Example:
              pushfarm campaigns plan edition.json --app demo
              pushfarm campaigns plan ed-2026-11-24 --requests 3
              pushfarm campaigns plan - --app demo --json
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Argument(help: ArgumentHelp("A file, -, or a campaign's id.", valueName: "file|id"))
    var source: String

    @Option(
        help: ArgumentHelp("The app. Not needed when only one app is configured.", valueName: "name"),
        completion: .apps)
    var app: String?

    @Option(
        reads: ArgumentHelp("Requests that a device sends to your API after a push.", valueName: "n"))
    var requests = 1

    func validate() throws {
        guard (0...1_000_000).contains(requests) else {
            throw ValidationError("--requests is 0 to 1000000.")
        }
    }

    func run(_ client: FarmClient, _ console: Console) async throws {
        let zones = CampaignZones()
        let app: String
        let campaign: Campaign
        var rate: Double?
        if source == "-" || TextFile.exists(source) {
            app = try await client.chosenApp(self.app)
            campaign = try CampaignFile.read(source, app: app, client.configuration.app(named: app), zones)
                .campaign
        } else {
            let choice = try CampaignChoice.parse([source] + (self.app.map { ["--app", $0] } ?? []))
            let stored = try await client.campaign(choice)
            (app, rate) = (stored.app, stored.record.rate)
            try zones.check()
            campaign = try stored.definition(zones)
        }
        let outcome = try await CampaignPlanner(client: client, app: app, zones: zones).plan(
            campaign, rate: rate)
        let report = CampaignPlanReport(
            app: app, campaign: campaign, outcome: outcome, zones: zones, requests: requests)
        console.show(report.json, report.text(console.style))
    }
}
