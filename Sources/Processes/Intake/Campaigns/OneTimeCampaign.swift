import Campaigns
import ControlChannel
import EventLoop
import Logging
import PushModel
import Scheduling
import StoreProtocol

/// A campaign that sends itself, in contrast to a recurring campaign, from its creation to its end. While it sends, a
/// ``RunningCampaign`` performs its actions.
@Loop final class OneTimeCampaign: ActiveCampaign {
    private enum Phase {
        case scheduled
        case running(RunningCampaign)
        /// The campaign adds no more pushes.
        case over
    }

    /// The result of ``act()`` when the campaign is over.
    private static let overWait = Duration.seconds(30)
    /// How long a campaign waits while something outside of it must be fixed.
    private static let troubleWait = Duration.seconds(5)

    private let id: String
    private let services: CampaignServices
    private let log: Logger
    private let campaign: Campaign
    private var record: CampaignRecord
    private var phase = Phase.scheduled
    private let audience: AudienceLoader
    private let starting: CampaignStart
    private let lateness: LatenessCheck
    /// Returns the campaigns of a merge group that run now.
    private let peers: @Loop (String) -> [RunningCampaign]

    /// Loads a campaign.
    ///
    /// - Parameter peers: returns the running campaigns of a merge group.
    /// - Throws: why the definition of the record is not valid.
    init(
        _ id: String, _ record: CampaignRecord, _ services: CampaignServices,
        peers: @escaping @Loop (String) -> [RunningCampaign]
    ) throws(CampaignError) {
        (self.id, self.record, self.services, self.peers) = (id, record, services, peers)
        var log = services.log
        log[metadataKey: "campaign"] = "\(id)"
        self.log = log
        campaign = try CampaignParser(zones: services.zones.find).parse(record.definition)
            .divided(by: TimeFactor.current)
        audience = AudienceLoader(campaign, services, log: log)
        starting = CampaignStart(services, id, campaign)
        lateness = LatenessCheck(id, services, isRunning: record.state == .running)
    }

    var isRunning: Bool { record.state == .running }

    /// The campaign while it sends.
    var running: RunningCampaign? { if case .running(let running) = phase { running } else { nil } }

    var isPaused: Bool { running?.isPaused ?? false }

    var needsRegistry: Bool { !campaign.audience.isList }

    var isOver: Bool { if case .over = phase { true } else { false } }

    // MARK: Changes

    func update(_ record: CampaignRecord) {
        if let running {
            if record.rate != self.record.rate { lateness.restart() }
            running.update(record)
        }
        self.record = record
    }

    func resume() { running?.resume() }

    func cancel() async throws(StoreError) {
        switch phase {
        case .over: return
        case .scheduled where record.state != .running: try await end(.cancelled, reason: "")
        case .scheduled:
            let request = StoreCampaignStep.cancelling(
                id, step: record.step + 1, after: record.lastStep, services)
            _ = try await services.perform(request)
            phase = .over
        case .running(let running):
            try await running.cancel()
            phase = .over
        }
        log.notice("campaign cancelled")
    }

    // MARK: Forecast

    var forecast: CampaignForecast.Verdict { lateness.verdict }

    func describe(in line: inout IntakeNotice.Heartbeat.Campaign) {
        line.total = UInt64(clamping: running?.handled ?? record.counts.handled)
        if let running {
            line.add(running.progress, remaining: isPaused ? nil : running.remaining)
        } else {
            line.next = starting.firstPush.map { UInt64(clamping: $0.milliseconds) }
        }
    }

    func observe() async throws(StoreError) {
        guard let running else { return }
        if isPaused { lateness.pause() } else { try await lateness.check(running.remainingWork) }
    }

    // MARK: Actions

    func act() async throws(StoreError) -> Duration {
        if isPaused { return .seconds(1) }
        if case .over = phase { return Self.overWait }
        guard let audience = try await audience.load(version: record.list) else { return Self.troubleWait }
        guard let running else { return try await start(audience) }
        switch try await running.advance(audience) {
        case .wait(let time): return time
        case .cancelled: try await cancel()
        case .finished:
            phase = .over
            log.notice("campaign finished")
        }
        return .zero
    }

    private func start(_ audience: CampaignAudience) async throws(StoreError) -> Duration {
        let zoneNames = try await self.audience.zoneNames(of: audience)
        guard record.state == .running else { return try await startWhenDue(audience, zoneNames) }
        let rateLimit = try await services.rateLimit()
        do throws(PlanRefusal) {
            phase = .running(
                try RunningCampaign(
                    id, campaign, record, services, log: log, zoneNames: zoneNames, rateLimit: rateLimit,
                    loader: self.audience, peers: peers))
        } catch { try await end(.refused, reason: "\(error)") }
        return .zero
    }

    /// Begins the campaign when its first window begins, if its pushes fit into its windows.
    private func startWhenDue(
        _ audience: CampaignAudience, _ zoneNames: Set<String>
    ) async throws(StoreError) -> Duration {
        switch try await starting.decide(audience, zoneNames: zoneNames) {
        case .wait(let time): return time
        case .refuse(let refusal): try await end(.refused, reason: "\(refusal)")
        case .begin(let audienceEnds, let time):
            record = try await starting.begin(audience, audienceEnds: audienceEnds, at: time)
            guard record.state == .running else {
                phase = .over
                break
            }
            log.notice("campaign started")
        }
        return .zero
    }

    /// Ends a campaign that cannot run.
    private func end(_ ending: CampaignEnding, reason: String) async throws(StoreError) {
        let change = ChangeCampaign.end(
            id, token: services.token, name: services.uniqueName(), as: ending, reason: reason,
            keep: services.keepSeconds)
        _ = try await services.perform(change)
        phase = .over
        log.notice("campaign \(ending.rawValue)", metadata: ["reason": "\(reason)"])
    }
}

extension StoreCampaignStep {
    /// The last step of a campaign that was cancelled.
    @Loop static func cancelling(
        _ id: String, step: Int, after lastStep: String, _ services: CampaignServices
    ) -> StoreCampaignStep {
        var request = StoreCampaignStep(
            token: services.token, campaign: id, step: step, after: lastStep,
            name: services.uniqueName())
        (request.ending, request.keep) = (.cancelled, services.keepSeconds)
        return request
    }
}
