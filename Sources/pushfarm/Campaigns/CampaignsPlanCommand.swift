import ArgumentParser
import Campaigns
import EventLoop
import FarmConfiguration
import PushModel
import Scheduling
import Variants

struct CampaignsPlanCommand: ParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Shows when a campaign would send to how many devices.",
        discussion: """
            Counts the devices of the audience by zone and platform, and computes the
            first and the last push, the rate, the rounds, and the load on your own API.
            Caps exclude devices, and quiet hours delay pushes: the command counts these
            devices now. For a campaign with merge, the plan names the other campaigns of
            the group. Nothing is sent or stored. The argument is the file of a definition,
            - for standard input, or the id of a campaign that was created.

            For variants, the plan warns if most devices would have their push before the
            first rewards arrive.

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

    @Option(
        reads: ArgumentHelp("How long rewards of variants need to arrive.", valueName: "duration"))
    var rewardDelay = DurationOption(seconds: 1800)

    func validate() throws {
        guard (0...1_000_000).contains(requests) else {
            throw ValidationError("--requests is 0 to 1000000.")
        }
        try rewardDelay.check("--reward-delay", 1...2_678_400)
    }

    func run() throws {
        let configuration = try common.load()
        // The file's errors are shown even if Redis is unreachable.
        let file = try CampaignFile.isFile(source) ? CampaignFile(source, app: app, configuration) : nil
        try configuration.withClient { client in try await run(file, client, Console(json: common.json)) }
    }

    @Loop private func run(_ file: CampaignFile?, _ client: FarmClient, _ console: Console) async throws {
        let zones = CampaignZones()
        let chosen = try await CampaignSource.find(source, file, app: app, zones, client)
        let outcome = try await CampaignPlanner(client: client, app: chosen.app, zones: zones).plan(
            chosen.campaign, rate: chosen.rate)
        var warnings = try await warnings(chosen.campaign, outcome.plan, chosen.app, client).map(
            \.description)
        warnings += try await sizeWarning(chosen.campaign, chosen.app, client).map { [$0] } ?? []
        let report = CampaignPlanReport(
            app: chosen.app, campaign: chosen.campaign, outcome: outcome, zones: zones, requests: requests,
            warnings: warnings,
            merge: try await client.mergeReport(
                of: chosen.campaign, id: chosen.id ?? chosen.campaign.id, chosen.app, zones))
        console.show(report.json, report.text(console.style))
    }

    /// Returns why devices with the longest values would get no push.
    @Loop private func sizeWarning(
        _ campaign: Campaign, _ app: String, _ client: FarmClient
    ) async throws(CommandFailure) -> String? {
        var longest = GreatestPush.storedValues
        if case .list(let name) = campaign.audience {
            longest = try await ListStore(client: client, app: app).list(name).columns.map {
                ($0.name, $0.longest)
            }
        }
        let settings = client.configuration.app(named: app)
        let rules = CampaignJob.Rules(
            app: app, topic: settings?.topic ?? "com.example.unknown",
            limits: settings?.jobLimits ?? JobLimits(),
            now: WallClock.seconds)
        return GreatestPush.fault(in: campaign, longest: longest, rules: rules).map {
            "with the longest values, a device would get no push: \($0)"
        }
    }

    /// Returns why the campaign would learn little about its variants.
    @Loop private func warnings(
        _ campaign: Campaign, _ plan: CampaignPlan, _ app: String, _ client: FarmClient
    ) async throws(CommandFailure) -> [LearningWarning] {
        guard let variants = campaign.variants else { return [] }
        var earlier: [Int] = []
        if let series = campaign.series {
            earlier = try await client.results(ofSeries: series, variants, app).variants.map(\.pulls)
        }
        return LearningForecast(
            audience: Int(clamping: Double(plan.devices) * (1 - variants.holdout)), rate: plan.peak,
            delay: rewardDelay.milliseconds, policy: variants.policy, variants: variants.variants.count,
            earlierPulls: earlier
        ).warnings
    }
}
