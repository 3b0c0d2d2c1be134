import Campaigns
import ControlChannel
import EventLoop
import StoreProtocol

/// A campaign that the runner lets act: a campaign that sends, or a recurring campaign that starts runs.
@Loop protocol ActiveCampaign: AnyObject {
    /// Whether the runner can forget the campaign.
    var isOver: Bool { get }
    /// Whether the campaign has noticed that it is paused.
    var isPaused: Bool { get }

    /// Whether the campaign has started and may send.
    var isRunning: Bool { get }

    /// Whether the campaign cannot act while the registry cannot be reached.
    var needsRegistry: Bool { get }

    /// Whether the campaign can send its remaining pushes within its windows.
    var forecast: CampaignForecast.Verdict { get }

    /// Adds what the campaign has done to its line in the heartbeat.
    func describe(in line: inout IntakeNotice.Heartbeat.Campaign)

    /// Updates the forecast. The runner calls this function about once a second.
    func observe() async throws(StoreError)

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

extension ActiveCampaign {
    var needsRegistry: Bool { false }

    var forecast: CampaignForecast.Verdict { .fits }

    func observe() async throws(StoreError) {}

    func describe(in line: inout IntakeNotice.Heartbeat.Campaign) {}
}
