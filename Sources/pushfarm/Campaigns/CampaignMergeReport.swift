import Campaigns
import EventLoop
import FarmLogging
import StoreProtocol

/// The merge group of a campaign, as commands show it.
struct CampaignMergeReport: Sendable {
    let merge: CampaignMerge
    /// The other campaigns of the group that are drafts, wait for their start or run, the latest first.
    let others: [String]

    /// The maximum number of ids in a text.
    private static let mostShown = 4

    var group: String { "\(merge.name), priority \(merge.priority)" }

    var othersText: String {
        guard !others.isEmpty else { return "no other campaign now" }
        let shown = others.prefix(Self.mostShown).map { PlainText.of($0, limit: 64) }.joined(separator: ", ")
        let rest = others.count - Self.mostShown
        return rest > 0 ? "\(shown) and \(rest) more (--json)" : shown
    }

    var json: JSONValue {
        .object([
            "name": .string(merge.name), "priority": .number(merge.priority), "others": .strings(others),
        ])
    }
}

extension FarmClient {
    /// The number of latest campaigns among which a group's campaigns are found.
    private static let mostCampaigns = 200

    /// Reads the merge group of a campaign.
    ///
    /// - Parameter id: the id of the campaign; nil if it has no record.
    /// - Returns: nil for a campaign that is not merged.
    func mergeReport(
        of campaign: Campaign, id: String?, _ app: String, _ zones: CampaignZones
    ) async throws(CommandFailure) -> CampaignMergeReport? {
        guard let merge = campaign.merge else { return nil }
        var others: [String] = []
        for other in try await call(LatestCampaigns(count: Self.mostCampaigns), app) where other != id {
            let field = ReadCampaignField(other, CampaignRecord.Field.state.rawValue)
            guard let state = try await call(field, app).flatMap(CampaignState.init), !state.isFinal,
                let stored = try await self.campaign(other, app),
                let definition = try? stored.definition(zones), definition.merge?.name == merge.name
            else { continue }
            others.append(other)
        }
        return CampaignMergeReport(merge: merge, others: others)
    }

    /// Reads the merge group of a stored campaign.
    func mergeReport(of stored: StoredCampaign) async throws(CommandFailure) -> CampaignMergeReport? {
        // Most campaigns are not merged, and their definitions need no time zones here.
        guard stored.record.definition.contains("\"merge\"".utf8) else { return nil }
        let zones = CampaignZones()
        try zones.check()
        return try await mergeReport(of: try stored.definition(zones), id: stored.id, stored.app, zones)
    }
}
