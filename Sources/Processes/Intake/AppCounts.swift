import Campaigns
import ControlChannel
import EventLoop

/// What this process has counted for one app since it started.
@Loop final class AppCounts {
    /// The number of finished device inputs, including refused inputs.
    var deviceInputs: UInt64 = 0
    var refusedDeviceInputs: UInt64 = 0
    /// The number of users and devices whose tokens were looked up for jobs.
    var lookups: UInt64 = 0
    private var campaignDevices = CampaignCounts()

    /// Adds the counts that a step of a campaign has stored.
    func add(_ counts: CampaignCounts) {
        for kind in CampaignCounts.Kind.results { campaignDevices[kind, 1] += max(0, counts.total(kind)) }
    }

    /// The devices that campaigns have handled, by count.
    var handledDevices: [IntakeNotice.Heartbeat.Count] {
        CampaignCounts.Kind.results.map {
            .init(name: $0.rawValue, number: UInt64(clamping: campaignDevices[$0, 1]))
        }
    }
}
