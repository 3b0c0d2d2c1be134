import Scheduling

/// The fields that merge a campaign with others.
extension CampaignFields {
    /// The fields that a merged campaign cannot have: its pushes also have the content of other campaigns, which may have other
    /// values of these fields.
    private static let notMerged: [CampaignField] = [
        .translations, .variants, .topic, .collapseID, .ttl, .expiresAt, .category, .caps, .quiet,
    ]

    func merge() throws(CampaignError) -> CampaignMerge? {
        try require(.mergePriority, of: .merge)
        let priority = try self[.mergePriority]?.integer(in: 0...1000) ?? 0
        guard let name = try name(.merge) else { return nil }
        for field in Self.notMerged { try exclude(.merge, field) }
        return CampaignMerge(name: name, priority: priority)
    }

    /// Refuses a campaign with `merge` whose pushes cannot be merged.
    func checkMerge(of campaign: Campaign) throws(CampaignError) {
        guard let value = self[.merge], let merge = campaign.merge else { return }
        guard campaign.isBackground else {
            throw (self[.pushType] ?? value).error("\"merge\" needs \"push_type\": \"background\"")
        }
        do throws(ScheduleError) {
            let id = campaign.id ?? CampaignMerge.longestMadeID
            // The ids of a recurring campaign's runs end with the time of the run.
            let time = campaign.recurrence == nil ? "" : ".2026-11-26T0530"
            _ = try campaign.mergeMember(
                MergeGroup(name: merge.name), id: id + time, startedAt: UTCTime(milliseconds: 0))
        } catch {
            let place = self[.payload] ?? value
            throw CampaignError(field: place.name, position: place.position, reason: error.reason)
        }
    }
}
