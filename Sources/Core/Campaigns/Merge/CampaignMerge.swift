package import Scheduling

/// How a campaign is merged with other campaigns of the same group.
package struct CampaignMerge: Hashable, Sendable {
    /// An id as long as the ids that the farm gives to campaigns without one.
    static let longestMadeID = String(repeating: "x", count: 64)

    /// Campaigns with equal names are merged.
    package let name: String
    /// The content of a higher priority comes first; 0...1000.
    package let priority: Int
}

extension Campaign {
    /// The campaign's content for pushes of its merge group.
    ///
    /// - Parameter startedAt: when the campaign started.
    /// - Throws: why the payload cannot be merged.
    package func mergeMember(
        _ group: MergeGroup, id: String, startedAt: UTCTime
    ) throws(ScheduleError) -> MergeMember {
        try MergeMember(
            campaign: id, priority: merge?.priority ?? 0, startedAt: startedAt,
            payload: Array(definition[content.message.range]), group: group)
    }
}
