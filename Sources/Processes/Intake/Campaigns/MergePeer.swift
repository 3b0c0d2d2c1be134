import Campaigns
import EventLoop
import Scheduling

/// A running campaign of a merge group, whose content the pushes of another campaign of the group may contain.
@Loop struct MergePeer {
    /// The maximum number of other campaigns whose content one push may contain.
    static let most = 15

    let campaign: RunningCampaign
    let member: MergeMember
    /// The number of the campaign's last step.
    let step: Int
    /// The name of the campaign's last step; empty before its first step.
    let lastStep: String
    /// A copy of the run. The step of the other campaign stores the copy's progress.
    let run: CampaignStateMachine
    let audience: CampaignAudience
    /// For each partition, the first ordinal that is not in the audience.
    let audienceEnds: [Int]
    /// The devices that need the content now.
    let due: [CampaignStateMachine.Due]
}
