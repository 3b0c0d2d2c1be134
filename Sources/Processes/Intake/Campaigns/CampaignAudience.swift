import Campaigns
import EventLoop
import Logging
import Segments
import StoreProtocol

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

/// Finds the audience of one campaign. If a segment or a list cannot be read, the campaign waits, because an operator can save
/// the segment again.
@Loop final class AudienceLoader {
    private let campaign: Campaign
    private let services: CampaignServices
    private let log: Logger
    private var lastTrouble: String?

    init(_ campaign: Campaign, _ services: CampaignServices, log: Logger) {
        (self.campaign, self.services, self.log) = (campaign, services, log)
    }

    /// Returns the audience; nil if it cannot be read. Logs each new reason once.
    ///
    /// - Parameter version: the upload of the list that the campaign has begun with; nil before the campaign begins.
    func load(version: String?) async throws(StoreError) -> CampaignAudience? {
        let result = try await services.retrying("read the audience of a campaign") { () throws(StoreError) in
            try await services.audience.audience(campaign.audience, version: version)
        }
        switch result {
        case .success(let audience):
            lastTrouble = nil
            return audience
        case .failure(let trouble):
            if lastTrouble != trouble.description {
                log.error("the campaign waits", metadata: ["reason": "\(trouble)"])
                lastTrouble = trouble.description
            }
            return nil
        }
    }

    /// The names of the time zones that devices of an audience have.
    func zoneNames(of audience: CampaignAudience) async throws(StoreError) -> Set<String> {
        try await services.retrying("read the zones of devices") { () throws(StoreError) in
            try await services.audience.zoneNames(of: audience)
        }
    }
}
