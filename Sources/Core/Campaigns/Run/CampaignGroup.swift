import Scheduling
package import Segments

/// The devices of a campaign that share a window.
package struct CampaignGroup: Hashable, Sendable {
    /// Which devices of the audience belong to the group.
    package enum Members: Hashable, Sendable {
        case all
        /// The devices of this zone.
        case zone(String)
        /// The devices of no other group: those of the default zone, without a zone, or with an unknown zone.
        case others(than: [String])

        /// The expression for these devices in a segment.
        package func expression(in segment: SegmentExpression) -> SegmentExpression {
            switch self {
            case .all: segment
            case .zone(let name): .and([segment, .term(.value(.zone, name))])
            case .others(let names):
                names.isEmpty ? segment : .and([segment, .not(.or(names.map { .term(.value(.zone, $0)) }))])
            }
        }
    }

    package let members: Members
    /// The window of the group, and its times without avoided minutes.
    let times: PlanGroup

    /// Divides an audience into groups.
    ///
    /// - Parameters:
    ///   - names: the zones that devices of the audience have. Names without rules count as no zone.
    ///   - start: when the campaign was started.
    static func groups(
        of campaign: Campaign, names: some Sequence<String>, zones: @escaping (String) -> TimeZoneRules?,
        start: UTCTime
    ) throws(PlanRefusal) -> [CampaignGroup] {
        var audience: [String: Int] = [:]
        for name in names { audience[name] = 1 }
        let found = try PlanGroups(campaign.schedule, zones: zones, now: start).groups(
            of: PlanAudience(zones: audience, withoutZone: 1), defaultZone: campaign.defaultZone
        ).groups
        guard campaign.schedule.dividesByZone else {
            return found.map { CampaignGroup(members: .all, times: $0) }
        }
        let others = found.compactMap(\.zone).filter { $0 != campaign.defaultZone }
        return found.map { times in
            let isDefault = times.zone == campaign.defaultZone
            return CampaignGroup(
                members: isDefault ? .others(than: others) : .zone(times.zone ?? ""), times: times)
        }
    }
}
