import Campaigns

/// A campaign that a command line names by the file of its definition or by its id.
struct CampaignSource: Sendable {
    let app: String
    /// The id of the campaign; nil for a definition without an id.
    let id: String?
    let campaign: Campaign
    /// The pushes a second that an operator set; nil if the definition decides.
    let rate: Double?

    /// Finds a campaign.
    ///
    /// - Parameters:
    ///   - source: the id of a campaign, if `file` is nil.
    ///   - file: the file that the command line names; nil if it names an id.
    ///   - app: the app that the command line names.
    static func find(
        _ source: String, _ file: CampaignFile?, app: String?, _ zones: CampaignZones, _ client: FarmClient
    ) async throws -> CampaignSource {
        if let file {
            let app = try await client.chosenApp(app)
            let campaign = try file.campaign(app: app, client.configuration.app(named: app), zones).campaign
            return CampaignSource(app: app, id: campaign.id, campaign: campaign, rate: nil)
        }
        let choice = try CampaignChoice.parse([source] + (app.map { ["--app", $0] } ?? []))
        let stored = try await client.campaign(choice)
        try zones.check()
        return CampaignSource(
            app: stored.app, id: stored.id, campaign: try stored.definition(zones), rate: stored.record.rate)
    }
}
