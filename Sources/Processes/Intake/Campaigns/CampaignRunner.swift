import Campaigns
import ControlChannel
import EventLoop
import Logging
import Scheduling
import StoreProtocol

/// Runs all campaigns of one app, one action after the other. Campaigns that may send take turns.
@Loop final class CampaignRunner {
    /// The maximum number of campaigns that wait for their start or run, so that producers cannot fill the memory.
    static let mostCampaigns = 500
    /// How often pauses and cancels are read.
    private static let markInterval = Duration.seconds(1)
    /// How often final campaigns get an expiry.
    private static let retentionInterval = Duration.seconds(30)
    /// The longest time between two calls of ``turn()``.
    private static let longestWait = Duration.seconds(5)
    /// The number of ids that one request reads.
    private static let page = 100

    private let services: CampaignServices
    private let retention: CampaignRetention
    private var campaigns: [String: any ActiveCampaign] = [:]
    /// When each campaign acts next.
    private var due: [String: ContinuousClock.Instant] = [:]
    private var marksRead: ContinuousClock.Instant?
    private var retained: ContinuousClock.Instant?
    private var contentReturned: ContinuousClock.Instant?

    init(_ services: CampaignServices) {
        self.services = services
        retention = CampaignRetention(services)
    }

    // MARK: Campaigns

    /// The number of campaigns that wait for their start or run.
    var count: Int { campaigns.count }

    /// Whether a campaign has started and has not ended.
    var hasRunningCampaign: Bool { campaigns.values.contains(where: \.isRunning) }

    /// The numbers of the app's campaigns.
    var numbers: IntakeNotice.Heartbeat.CampaignNumbers {
        var numbers = IntakeNotice.Heartbeat.CampaignNumbers()
        for (id, campaign) in campaigns.sorted(by: { ($1.value.rank, $0.key) < ($0.value.rank, $1.key) }) {
            var line = IntakeNotice.Heartbeat.Campaign(
                id: id, state: campaign.isPaused ? .paused : campaign.isRunning ? .running : .scheduled)
            switch line.state {
            case .scheduled: numbers.scheduled += 1
            case .running: numbers.running += 1
            case .paused: numbers.paused += 1
            }
            if numbers.list.count < IntakeNotice.Heartbeat.CampaignNumbers.mostListed {
                if case .late = campaign.forecast { line.isLate = true }
                campaign.describe(in: &line)
                numbers.list.append(line)
            }
            switch campaign.forecast {
            case .fits: break
            case .unclear: numbers.isUnclear = true
            case .late(let shortfall):
                if numbers.late == 0 { (numbers.firstLate, numbers.shortfall) = (id, shortfall.text) }
                numbers.late += 1
            }
        }
        return numbers
    }

    /// Loads all campaigns that have no final state.
    func load() async throws(StoreError) {
        var start = 0
        while !Task.isCancelled {
            let ids = try await services.perform(LatestCampaigns(from: start, count: Self.page))
            for id in ids {
                let state = try await services.perform(
                    ReadCampaignField(id, CampaignRecord.Field.state.rawValue))
                if state.flatMap(CampaignState.init)?.isActive == true { try await read(id) }
            }
            guard ids.count == Self.page else { return }
            start += ids.count
        }
    }

    /// Reads a campaign that was created or changed.
    func read(_ id: String) async throws(StoreError) {
        let record = CampaignRecord(fields: try await services.perform(ReadCampaign(id)))
        guard record.state?.isActive == true else { return remove(id) }
        due[id] = .now
        if let campaign = campaigns[id] { return campaign.update(record) }
        do throws(ZoneError) { try services.zones.check() } catch {
            // Without time zones no campaign can be read. The next owner, or the next change, reads the campaign again.
            services.log.error("a campaign waits", metadata: ["campaign": "\(id)", "reason": "\(error)"])
            return
        }
        do throws(CampaignError) { campaigns[id] = try campaign(id, record) } catch {
            let reason = "the definition is not valid: \(error)"
            services.log.error("campaign refused", metadata: ["campaign": "\(id)", "reason": "\(reason)"])
            _ = try await services.perform(
                ChangeCampaign.end(
                    id, token: services.token, name: services.uniqueName(), as: .refused, reason: reason,
                    keep: services.keepSeconds))
            remove(id)
        }
    }

    private func campaign(
        _ id: String, _ record: CampaignRecord
    ) throws(CampaignError) -> any ActiveCampaign {
        let campaign = try CampaignParser(zones: services.zones.find).parse(record.definition)
        let recurring = try RecurringCampaign(id, campaign, record, services) {
            [weak self] run throws(StoreError) in try await self?.read(run)
        }
        if let recurring { return recurring }
        return try OneTimeCampaign(id, record, services) { [weak self] group in
            self?.running(in: group) ?? []
        }
    }

    /// The running campaigns of a merge group, in order of their ids.
    private func running(in group: String) -> [RunningCampaign] {
        campaigns.sorted { $0.key < $1.key }.compactMap { ($0.value as? OneTimeCampaign)?.running }
            .filter { $0.isMerged(in: group) }
    }

    private func remove(_ id: String) {
        campaigns[id] = nil
        due[id] = nil
    }

    // MARK: Turns

    /// Lets each campaign that is due perform one action.
    ///
    /// - Returns: when to call again; zero if more can be done now.
    func turn() async throws(StoreError) -> Duration {
        try await readMarks()
        for campaign in campaigns.values { try await campaign.observe() }
        try await expire()
        let hasMoreContent = try await returnContent()
        var wake: Duration = hasMoreContent ? .zero : campaigns.isEmpty ? Self.longestWait : Self.markInterval
        for (id, campaign) in campaigns.sorted(by: { $0.key < $1.key }) {
            if let due = due[id], due > .now {
                wake = min(wake, due - .now)
                continue
            }
            guard let wait = try await act(campaign) else { continue }
            if campaign.isOver {
                remove(id)
                retained = nil
                continue
            }
            due[id] = .now + wait
            wake = min(wake, wait)
        }
        return max(.zero, wake)
    }

    /// - Returns: nil if the campaign needs the registry, which cannot be reached.
    private func act(_ campaign: any ActiveCampaign) async throws(StoreError) -> Duration? {
        guard campaign.needsRegistry else { return try await campaign.act() }
        return try await services.registryOutage.perform { () throws(StoreError) in try await campaign.act() }
    }

    /// Reads which campaigns are paused or cancelled, so that also a campaign that waits is cancelled soon.
    private func readMarks() async throws(StoreError) {
        let ids = campaigns.keys.sorted()
        guard !ids.isEmpty, marksRead.map({ $0.duration(to: .now) >= Self.markInterval }) ?? true else {
            return
        }
        marksRead = .now
        let now = services.now.milliseconds
        for start in stride(from: 0, to: ids.count, by: Self.page) {
            let page = Array(ids[start..<min(start + Self.page, ids.count)])
            let pauses = try await services.perform(ReadJobMarks(.paused, jobs: page))
            let cancels = try await services.perform(ReadJobMarks(.cancelled, jobs: page))
            for (id, (pause, cancel)) in zip(page, zip(pauses, cancels)) {
                guard let campaign = campaigns[id] else { continue }
                if let cancel, cancel <= now {
                    try await campaign.cancel()
                    remove(id)
                } else if pause == nil, campaign.isPaused {
                    campaign.resume()
                    due[id] = .now
                }
            }
        }
    }

    /// Sends the content of other campaigns that cancelled pushes of a campaign contained.
    ///
    /// - Returns: whether there may be more of it.
    private func returnContent() async throws(StoreError) -> Bool {
        guard contentReturned.map({ $0.duration(to: .now) >= Self.markInterval }) ?? true else {
            return false
        }
        let hasMore = try await CancelledContentInbox(services: services).handleNext()
        contentReturned = hasMore ? nil : .now
        return hasMore
    }

    private func expire() async throws(StoreError) {
        guard retained.map({ $0.duration(to: .now) >= Self.retentionInterval }) ?? true else { return }
        retained = .now
        try await retention.expire()
    }
}

extension ActiveCampaign {
    /// Running campaigns come first in lists.
    fileprivate var rank: Int { isRunning ? 1 : 0 }
}

extension CampaignState {
    /// Whether the runner has work with a campaign in this state.
    fileprivate var isActive: Bool { self == .scheduled || self == .running }
}
