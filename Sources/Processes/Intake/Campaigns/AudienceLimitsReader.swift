import Campaigns
import EventLoop
import Logging
import Scheduling
import StoreProtocol

/// Reads what limits the devices of a campaign's steps: caps, the budget of background pushes, and quiet hours.
@Loop struct AudienceLimitsReader {
    let services: CampaignServices
    let campaign: Campaign
    /// Whether the pushes have the payload of `fallback`. They are alert pushes, which the budget does not limit.
    let isFallback: Bool

    /// The rules that need counters now, and the quiet hours.
    ///
    /// - Parameter counted: the periods that campaigns of the category cap.
    private func rules(
        counted: some Sequence<CapPeriod>
    ) throws(ScheduleError) -> (rules: [CapRules], quiet: QuietHours?) {
        let own = try campaign.limits.rules(counted: counted)
        var rules = own.isEmpty ? [] : [own]
        let budget = Int(services.setup.backgroundBudget)
        if budget > 0, campaign.isBackground, !isFallback { rules.append(.background(pushes: budget)) }
        return (rules, try campaign.limits.quietHours())
    }

    /// The limits of a step's devices.
    enum Reading {
        case unlimited
        case limits(AppliedLimits)
        /// The limits of the definition contradict the parser's rules, so nothing may be sent.
        case invalid(ScheduleError)
    }

    /// Reads the limits of a step's devices.
    ///
    /// - Parameter zones: the zone of each device. A device without a zone, or with a zone that does not exist, has the clocks of
    ///   the campaign's default zone.
    func read(_ zones: [String?], of chunk: AudienceChunk) async throws(StoreError) -> Reading {
        // The rows of a list have no ordinals of the registry, by which pushes are counted.
        if case .list = campaign.audience { return .unlimited }
        let counted = try await services.cappedPeriods.of(
            campaign.limits.category ?? CapRules.commonCategory)
        let rules: [CapRules]
        let quiet: QuietHours?
        do throws(ScheduleError) { (rules, quiet) = try self.rules(counted: counted) } catch {
            return .invalid(error)
        }
        guard !rules.isEmpty || quiet != nil else { return .unlimited }
        var known: [String: TimeZoneRules] = [:]
        let names = zones.map { zone in
            let name = zone ?? campaign.defaultZone
            if known[name] == nil { known[name] = services.zones.find(name) }
            return known[name] == nil ? campaign.defaultZone : name
        }
        if known[campaign.defaultZone] == nil {
            known[campaign.defaultZone] = services.zones.find(campaign.defaultZone)
        }
        var limits = AudienceLimits(rules, quiet: quiet, zones: known, at: services.now)
        try await load(limits.counters, of: chunk, into: &limits)
        return .limits(AppliedLimits(limits: limits, zones: names))
    }

    private func load(
        _ counters: [CapCounter], of chunk: AudienceChunk, into limits: inout AudienceLimits
    ) async throws(StoreError) {
        guard !counters.isEmpty else { return }
        let keys = counters.map { $0.key(partition: chunk.partition, chunk: chunk.number) }
        for (counter, bytes) in zip(counters, try await services.store.perform(ReadStrings(keys))) {
            let counts = CapCounts(bytes: bytes ?? [])
            if counts == nil {
                services.log.error(
                    "counts of caps cannot be read and begin at 0", metadata: ["counter": "\(counter.name)"])
            }
            limits.load(counter, counts ?? CapCounts())
        }
    }
}

/// The limits of the devices of one step, by the places of the devices in the step.
struct AppliedLimits {
    fileprivate var limits: AudienceLimits
    /// The zone whose clocks limit each device.
    fileprivate let zones: [String]

    func verdict(on ordinal: UInt16, at index: Int) -> AudienceLimits.Verdict {
        limits.verdict(on: ordinal, in: zones[index])
    }

    /// Counts a push that is accepted.
    mutating func count(_ ordinal: UInt16, at index: Int) { limits.count(ordinal, in: zones[index]) }

    /// The new counts, which the step stores.
    func strings(of chunk: AudienceChunk) -> [StoreCampaignStep.StoredString] {
        limits.changes.map { change in
            StoreCampaignStep.StoredString(
                key: change.counter.key(partition: chunk.partition, chunk: chunk.number),
                bytes: change.counts.bytes, expiresAt: change.counter.expiresAt.milliseconds)
        }
    }
}
