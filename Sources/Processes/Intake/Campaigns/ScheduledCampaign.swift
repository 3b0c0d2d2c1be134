import Campaigns
import EventLoop
import StoreProtocol

/// A campaign that the runner lets act: a campaign that sends, or a recurring campaign that starts runs.
@Loop protocol ScheduledCampaign: AnyObject {
    /// Whether the runner can forget the campaign.
    var isOver: Bool { get }
    /// Whether the campaign has noticed that it is paused.
    var isPaused: Bool { get }

    /// Whether the campaign has started and may send.
    var isRunning: Bool { get }

    /// Takes a record that an operator has changed.
    func update(_ record: CampaignRecord)
    /// Notes that the pause of the campaign has ended.
    func resume()
    /// Ends the campaign because it was cancelled.
    func cancel() async throws(StoreError)
    /// Performs the next action.
    ///
    /// - Returns: when to call again; zero if more can be done now.
    func act() async throws(StoreError) -> Duration
}
