import Campaigns

/// A campaign that a command line names by the file of its definition or by its id.
struct CampaignSource: Sendable {
    let app: String
    /// The id of the campaign; nil for a definition without an id.
    let id: String?
    let campaign: Campaign
    /// The pushes a second that an operator set; nil if the definition decides.
    let rate: Double?

    /// Reads and checks a campaign.
    ///
    /// - Parameters:
    ///   - source: a file, `-` for standard input, or the id of a campaign.
    ///   - app: the app that the command line names.
    static func find(
        _ source: String, app: String?, _ zones: CampaignZones, _ client: FarmClient
    ) async throws -> CampaignSource {
        if source == "-" || TextFile.exists(source) {
            let app = try await client.chosenApp(app)
            let campaign = try CampaignFile.read(
                source, app: app, client.configuration.app(named: app), zones
            ).campaign
            return CampaignSource(app: app, id: campaign.id, campaign: campaign, rate: nil)
        }
        let choice = try CampaignChoice.parse([source] + (app.map { ["--app", $0] } ?? []))
        let stored = try await client.campaign(choice)
        try zones.check()
        return CampaignSource(
            app: stored.app, id: stored.id, campaign: try stored.definition(zones), rate: stored.record.rate)
    }
}
