import Campaigns
import Segments

/// The audience of a campaign, as the runner reads it.
enum CampaignAudience {
    /// The devices of the registry for which the expression is true.
    case segment(SegmentExpression)
    /// The rows of an uploaded list.
    case list(ListAudience)

    /// The unique name of the list's upload; nil for a segment. A campaign that has begun never continues with another upload,
    /// because the rows of another upload have other numbers.
    var version: String? {
        if case .list(let list) = self { list.list.version } else { nil }
    }
}
