import Campaigns
import EventLoop
import PushModel
import StoreProtocol

/// Sends the content of other campaigns that cancelled pushes of a campaign contained.
@Loop struct CancelledContentInbox {
    let services: CampaignServices

    /// Handles the first entry of cancelled pushes. If the process is killed before the entry is removed, the next process makes the
    /// same jobs again, and the farm drops these jobs because of their ids.
    ///
    /// - Returns: whether there may be further entries that can be handled now.
    func handleNext() async throws(StoreError) -> Bool {
        guard let entry = try await services.perform(FirstCancelledContent()) else { return false }
        let content: CancelledContent?
        do throws(CodecError) { content = try CancelledContent(decoding: entry) } catch {
            content = nil
            services.log.error("cancelled pushes cannot be read", metadata: ["reason": "\(error)"])
        }
        if let content {
            guard try await submit(content) else {
                // Other entries may have content of campaigns that are not paused.
                _ = try await services.perform(PostponeCancelledContent())
                return false
            }
        }
        _ = try await services.perform(RemoveCancelledContent(entry))
        return true
    }

    /// - Returns: false if a campaign whose content the pushes have is paused.
    private func submit(_ content: CancelledContent) async throws(StoreError) -> Bool {
        let others = content.others.sorted()
        guard !others.isEmpty else { return true }
        let cancels = try await services.perform(ReadJobMarks(.cancelled, jobs: others))
        let pauses = try await services.perform(ReadJobMarks(.paused, jobs: others))
        var ended: Set<String> = []
        for (id, (cancel, pause)) in zip(others, zip(cancels, pauses)) {
            let state = try await services.perform(
                ReadCampaignField(id, CampaignRecord.Field.state.rawValue))
            if cancel.map({ $0 <= services.now.milliseconds }) == true
                || state == CampaignState.cancelled.rawValue
            {
                ended.insert(id)
            } else if pause != nil {
                return false
            }
        }
        let lane = try await services.perform(ReadCampaignField(content.campaign, "lane"))
        for job in content.jobs(without: ended, lane: lane ?? Lane.high.name) {
            _ = try await services.perform(PushJob(job: job))
        }
        return true
    }
}
