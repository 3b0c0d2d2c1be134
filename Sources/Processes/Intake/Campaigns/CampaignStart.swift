import Campaigns
import EventLoop
import Scheduling
import StoreProtocol

/// Decides when a campaign that waits for its start begins, and whether its pushes fit into its windows and into the app's rate
/// limit.
@Loop final class CampaignStart {
    enum Decision {
        case wait(Duration)
        /// The campaign begins now. `limits` is, for each partition or group of a list, the first ordinal that is not in the audience.
        case begin(audienceEnds: [Int], time: UTCTime)
        case refuse(PlanRefusal)
    }

    /// How long a campaign waits for its start, at most, until it looks again. Devices may register with zones whose windows
    /// begin earlier.
    private static let longestWait = Duration.seconds(30)

    private let services: CampaignServices
    private let id: String
    private let campaign: Campaign
    /// Whether the plan was checked once. The plan is checked again at the start.
    private var hasPlan = false
    /// When the first window begins; nil if it is not known, or has begun.
    private(set) var firstPush: UTCTime?

    init(_ services: CampaignServices, _ id: String, _ campaign: Campaign) {
        (self.services, self.id, self.campaign) = (services, id, campaign)
    }

    /// - Parameter zoneNames: the names of the time zones that devices of the audience have.
    func decide(
        _ audience: CampaignAudience, zoneNames: Set<String>
    ) async throws(StoreError) -> Decision {
        let now = services.now
        let start: UTCTime?
        do throws(PlanRefusal) {
            var run = try CampaignStateMachine(
                campaign, id: id, start: now, names: zoneNames, zones: services.zones.find)
            if case .wait(let until) = run.next(at: now, .now) { start = until } else { start = nil }
        } catch { return .refuse(error) }
        firstPush = start
        if let start, hasPlan { return .wait(min(Self.wait(until: start, from: now), Self.longestWait)) }
        let audienceEnds = try await services.retrying("read the size of an audience") {
            () throws(StoreError) in
            try await services.audience.audienceEnds(of: audience)
        }
        if let refusal = try await refusal(audience, zoneNames, audienceEnds, now) { return .refuse(refusal) }
        hasPlan = true
        guard start == nil else { return .wait(.zero) }
        if case .list(let list) = audience {
            try await services.retrying("keep the list of a campaign") { () throws(StoreError) in
                try await services.audience.lists.keep(list.list)
            }
        }
        return .begin(audienceEnds: audienceEnds, time: now)
    }

    /// Begins the campaign, as ``decide(_:zoneNames:)`` says.
    ///
    /// - Returns: the record of the campaign after the change.
    func begin(
        _ audience: CampaignAudience, audienceEnds: [Int], at time: UTCTime
    ) async throws(StoreError) -> CampaignRecord {
        try await addCappedPeriods()
        var fields = [
            (CampaignRecord.Field.audienceEnds.rawValue, CampaignRecord.text(ofAudienceEnds: audienceEnds)),
            (CampaignRecord.Field.startsAt.rawValue, "\(time.milliseconds)"),
            (CampaignRecord.Field.stopAt.rawValue, "\(campaign.limits.stopShare)"),
        ]
        if let version = audience.version { fields.append((CampaignRecord.Field.list.rawValue, version)) }
        let change = ChangeCampaign.begin(
            id, token: services.token, name: services.uniqueName(),
            fields: fields + (try await learningFields()))
        _ = try await services.perform(change)
        return CampaignRecord(fields: try await services.perform(ReadCampaign(id)))
    }

    /// Makes all campaigns of the category count in the periods of this campaign's caps.
    private func addCappedPeriods() async throws(StoreError) {
        let periods = Set(campaign.limits.caps.map(\.period))
        guard !periods.isEmpty else { return }
        try await services.cappedPeriods.add(
            periods, to: campaign.limits.category ?? CapRules.commonCategory)
    }

    /// The fields for the variants of a campaign that learns from its series.
    private func learningFields() async throws(StoreError) -> [ChangeCampaign.Field] {
        guard let variants = campaign.variants, let series = campaign.series else { return [] }
        let earlier = try await VariantStep.results(of: variants, id: id, series: series, services)
        return [(CampaignRecord.Field.resultsSeries.rawValue, series)]
            + (variants.isKnown(from: earlier) ? [(CampaignRecord.Field.skipsExplore.rawValue, "1")] : [])
    }

    static func wait(until time: UTCTime, from now: UTCTime) -> Duration {
        .milliseconds(max(1, time.milliseconds - now.milliseconds))
    }

    /// Plans the campaign for the devices of now.
    ///
    /// - Returns: why the pushes do not fit; nil if they fit.
    private func refusal(
        _ audience: CampaignAudience, _ names: Set<String>, _ audienceEnds: [Int], _ now: UTCTime
    ) async throws(StoreError) -> PlanRefusal? {
        let zones = campaign.schedule.dividesByZone ? names.sorted() : []
        let cells = AudienceCells(campaign.schedule, salt: campaign.salt(id: id), round: 1)
        let parts = [.all] + zones.map { CampaignGroup.Members.zone($0) }
        let counts = try await AudienceCounter(
            services: services, id: id, audience: audience, audienceEnds: audienceEnds
        ).count(parts.map { .init(members: $0, round: 1, cells: cells) }).parts.map(\.total)
        let byZone = Dictionary(zip(zones, counts.dropFirst()), uniquingKeysWith: +).filter { $0.value > 0 }
        let withoutZone = max(0, counts[0] - byZone.values.reduce(0, +))
        let rateLimit = try await services.rateLimit()
        do throws(PlanRefusal) {
            _ = try CampaignPlan(
                PlanAudience(zones: byZone, withoutZone: withoutZone), campaign.schedule,
                defaultZone: campaign.defaultZone, zones: services.zones.find, now: now, rateLimit: rateLimit)
            return nil
        } catch { return error }
    }
}
