import Campaigns
import EventLoop
import Logging
import Scheduling
import StoreProtocol

/// Reads what limits the devices of a campaign's steps: caps, the budget of background pushes, and quiet hours.
@Loop struct StepLimitsReader {
    let services: CampaignServices
    let campaign: Campaign

    /// The rules that need counters now.
    private func rules() async throws(StoreError) -> [CapRules] {
        let category = campaign.limits.category ?? CapRules.commonCategory
        let counted = try await services.cappedPeriods.of(category)
        var rules: [CapRules] = []
        // The parser has checked the caps.
        if let own = try? campaign.limits.rules(counted: counted), !own.isEmpty { rules.append(own) }
        let budget = Int(services.setup.backgroundBudget)
        if budget > 0, campaign.isBackground { rules.append(.background(pushes: budget)) }
        return rules
    }

    /// Returns the limits for devices of a chunk; nil if the campaign has no limits.
    ///
    /// - Parameter names: the zones of the devices.
    func limits(_ names: Set<String>, of chunk: AudienceChunk) async throws(StoreError) -> DeviceLimits? {
        let (rules, quiet) = (try await rules(), try? campaign.limits.quietHours())
        guard !rules.isEmpty || quiet != nil else { return nil }
        var zones: [String: TimeZoneRules] = [:]
        for name in names { zones[name] = services.zones.find(name) }
        var limits = DeviceLimits(rules, quiet: quiet, zones: zones, at: services.now)
        let counters = limits.counters
        guard !counters.isEmpty else { return limits }
        let keys = counters.map { $0.key(partition: chunk.partition, chunk: chunk.number) }
        for (counter, bytes) in zip(counters, try await services.store.perform(ReadStrings(keys))) {
            let counts = CapCounts(bytes: bytes ?? [])
            if counts == nil {
                services.log.error(
                    "counts of caps cannot be read and begin at 0", metadata: ["counter": "\(counter.name)"])
            }
            limits.load(counter, counts ?? CapCounts())
        }
        return limits
    }

    /// The name of the zone whose clocks limit a device.
    ///
    /// - Parameter zone: the device's zone, which may not exist.
    func zone(of zone: String?) -> String {
        guard let zone, services.zones.find(zone) != nil else { return campaign.defaultZone }
        return zone
    }
}
