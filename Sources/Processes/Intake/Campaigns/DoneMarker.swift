import Campaigns
import EventLoop
import Registry
import Segments
import StoreProtocol

/// Marks the devices that report that they are done with a campaign.
@Loop struct DoneMarker {
    let services: CampaignServices

    /// Applies one report. Applying the same report again changes nothing.
    ///
    /// - Parameter index: the report's index in its step.
    /// - Returns: why the report is refused; nil if it is not refused.
    func handle(_ input: [UInt8], index: Int) async throws(StoreError) -> FinishInputs.Refusal? {
        let report: DoneReport
        do throws(CampaignError) { report = try DoneReport(input) } catch {
            return FinishInputs.Refusal(
                index: index, subject: nil, field: error.field, position: error.position, reason: error.reason
            )
        }
        let list = ReadCampaignField(report.campaign, CampaignRecord.Field.list.rawValue)
        guard try await services.perform(list) == nil else {
            return FinishInputs.Refusal(
                index: index, subject: report.campaign, field: "campaign", position: 0,
                reason: "the campaign sends to an uploaded list, so its devices have no ids")
        }
        let ends =
            try await services.perform(
                ReadCampaignField(report.campaign, CampaignRecord.Field.audienceEnds.rawValue)
            ).map(CampaignRecord.audienceEnds) ?? []
        let found = try await services.retrying("find devices that are done") { () throws(StoreError) in
            try await services.audience.places(ofDevices: report.devices)
        }
        // A device that was registered after the campaign's start is not in its audience. Its bit could be in a chunk that the
        // campaign does not have.
        let places = found.filter { ends.isEmpty || $0.ordinal < ends[checked: $0.partition] ?? 0 }
        let chunks = Dictionary(grouping: places) { place in
            AudienceChunk(partition: place.partition, number: place.ordinal / OrdinalChunk.size)
        }.sorted { $0.key < $1.key }.map { chunk, places -> MarkDone.Chunk in
            (chunk.partition, chunk.number, places.map { $0.ordinal % OrdinalChunk.size })
        }
        let reply = try await services.perform(
            MarkDone(token: services.token, campaign: report.campaign, chunks: chunks))
        guard reply == .unknownCampaign else { return nil }
        return FinishInputs.Refusal(
            index: index, subject: report.campaign, field: "campaign", position: 0,
            reason: "there is no campaign with this id")
    }
}
