import Campaigns
import EventLoop
import StoreProtocol

/// Checks every few seconds whether a running campaign can send its remaining pushes within its windows.
@Loop final class LatenessCheck {
    /// The time between two checks, and the shortest time over which the rate is measured. Both are divided by the time factor.
    private static let (interval, shortest) = (Duration.seconds(5), Duration.seconds(30))

    private let id: String
    private let services: CampaignServices
    private let interval: Duration
    private var forecast: CampaignForecast
    private var checked: ContinuousClock.Instant?
    /// The result of the last check.
    private(set) var verdict: CampaignForecast.Verdict

    /// - Parameters:
    ///   - id: the campaign's id.
    ///   - isRunning: whether the campaign ran before this process took it over, so that it may be late.
    init(_ id: String, _ services: CampaignServices, isRunning: Bool) {
        (self.id, self.services, verdict) = (id, services, isRunning ? .unclear : .fits)
        let factor = TimeFactor.current
        interval = max(.milliseconds(200), Self.interval / factor)
        forecast = CampaignForecast(
            shortest: max(1, Int64(clamping: Self.shortest / factor / .milliseconds(1))))
    }

    /// Notes that the campaign is paused. A paused campaign is not late: its pause is known to the operator, or has its own alert.
    func pause() {
        forecast.restart()
        (verdict, checked) = (.fits, nil)
    }

    /// Starts a new measurement, because the rate of the campaign has changed.
    func restart() {
        forecast.restart()
        checked = nil
    }

    /// Checks the campaign, if a check is due.
    func check(_ work: @autoclosure () -> RemainingWork) async throws(StoreError) {
        guard checked.map({ $0.duration(to: .now) >= interval }) ?? true else { return }
        checked = .now
        let fields = try await services.perform(ReadJobRecord(job: id))
        let job = JobRecord(id: id, app: services.setup.name, fields: fields)
        verdict = forecast.verdict(
            on: work(), open: job.map { max(0, $0.queued + $0.inFlight + $0.delayed) } ?? 0, at: services.now)
    }
}
