package import Segments

/// An uploaded list as the audience of a campaign. The number of a row's group takes the place of a partition, and the number of
/// the row in its group takes the place of an ordinal.
package struct ListAudience: Equatable, Sendable {
    package let list: UploadedList

    package init(_ list: UploadedList) { self.list = list }

    /// For each group, the number of rows: the first ordinal that is not in the audience.
    package var audienceEnds: [Int] { list.groups.map(\.rows) }

    /// The names of the time zones that rows have.
    package var zoneNames: Set<String> { Set(list.groups.compactMap(\.zone)) }

    /// The rows of a chunk that belong to a group of a campaign.
    package func members(of members: CampaignGroup.Members, in chunk: AudienceChunk) -> OrdinalChunk {
        guard let group = list.groups[checked: chunk.partition], Self.isIn(group.zone, members) else {
            return OrdinalChunk()
        }
        return Self.first(group.rows - chunk.firstOrdinal)
    }

    /// The number of rows of each group of a campaign, in the order of the groups.
    package func counts(of parts: [CampaignGroup.Members]) -> [Int] {
        parts.map { part in
            list.groups.reduce(0) { Self.isIn($1.zone, part) ? $0.adding(saturating: $1.rows) : $0 }
        }
    }

    private static func isIn(_ zone: String?, _ members: CampaignGroup.Members) -> Bool {
        switch members {
        case .all: true
        case .zone(let name): zone == name
        case .others(let names): zone.map { !names.contains($0) } ?? true
        }
    }

    private static func first(_ count: Int) -> OrdinalChunk {
        guard count > 0 else { return OrdinalChunk() }
        var chunk = OrdinalChunk.full
        chunk.removeAll(from: min(count, OrdinalChunk.size))
        return chunk
    }
}
