import Campaigns
import EventLoop
import Segments
import StoreProtocol

/// Gives the keys of ended campaigns an expiry, as soon as their job records have one.
@Loop final class CampaignRetention {
    /// The number of ids that one request reads.
    private static let page = 100
    /// How much longer than its bits a campaign's record is kept, in seconds. So an id is free only when no bits of the earlier
    /// campaign remain.
    private static let recordMargin = 60
    /// The maximum number of expired campaigns that the process remembers.
    private static let mostKnown = 100_000

    private let services: CampaignServices
    /// Campaigns whose keys already expire.
    private var known: Set<String> = []

    init(_ services: CampaignServices) { self.services = services }

    /// Looks at all campaigns once.
    func expire() async throws(StoreError) {
        var start = 0
        while !Task.isCancelled {
            let ids = try await services.perform(LatestCampaigns(from: start, count: Self.page))
            var gone: [String] = []
            for id in ids where !known.contains(id) {
                guard try await !expire(id) else { continue }
                gone.append(id)
            }
            if !gone.isEmpty { _ = try await services.perform(ForgetCampaigns(gone)) }
            guard ids.count == Self.page else { break }
            start += ids.count - gone.count
        }
        // Expired records are found by reading them again, in one of the next rounds.
        if known.count > Self.mostKnown { known = [] }
    }

    /// - Returns: false if the campaign's record has expired.
    private func expire(_ id: String) async throws(StoreError) -> Bool {
        let state = try await services.perform(ReadCampaignField(id, CampaignRecord.Field.state.rawValue))
        guard let state else { return false }
        guard CampaignState(rawValue: state)?.isFinal == true else { return true }
        let job = JobRecord(
            id: id, app: services.setup.name, fields: try await services.perform(ReadJobRecord(job: id)))
        guard job?.state != .open else { return true }
        let record = CampaignRecord(fields: try await services.perform(ReadCampaign(id)))
        for chunk in AudienceCounter.chunks(record.audienceEnds) {
            for kind in (0..<record.counts.rounds).map({ CampaignBits.sent(round: $0 + 1) }) + [
                .done, .rewarded, .assigned,
            ] {
                let key = kind.key(of: id, partition: chunk.partition, chunk: chunk.number)
                _ = try await services.perform(ExpireKey(key, seconds: services.keepSeconds))
            }
        }
        _ = try await services.perform(
            ExpireKey("campaign:\(id)", seconds: services.keepSeconds + Self.recordMargin))
        return true
    }
}
