import Campaigns
import EventLoop
import FarmConfiguration
import RedisClient
import Registry
import Scheduling
import Segments
import StoreProtocol

/// Counts the devices of an audience that would get no push now because of caps, the budget of background pushes, or quiet
/// hours.
@Loop struct CampaignLimitCounter {
    /// The number of devices that are excluded now, of the whole audience.
    struct Counts: Sendable {
        var capped = 0
        var quiet = 0
    }

    /// The number of zones that one scan of the registry evaluates.
    private static let zonesAtOnce = 100

    let client: FarmClient
    let app: String
    let campaign: Campaign
    let zones: CampaignZones
    let now: UTCTime
    /// The number of days since 1970-01-01 UTC.
    let today: Int

    /// - Parameters:
    ///   - names: the zones that devices have.
    /// - Returns: nil if the campaign has no limits for a device.
    func count(
        _ audience: SegmentExpression, names: [String], _ reader: RegistryReader, _ states: [PartitionState]
    ) async throws(CommandFailure) -> Counts? {
        let (rules, quiet) = try self.rules()
        guard !rules.isEmpty || quiet != nil else { return nil }
        let known = names.filter { zones.rules($0) != nil && $0 != campaign.defaultZone }
        var parts = known.map { ($0, SegmentExpression.and([audience, .term(.value(.zone, $0))])) }
        let others =
            known.isEmpty ? audience : .and([audience, .not(.or(known.map { .term(.value(.zone, $0)) }))])
        parts.append((campaign.defaultZone, others))
        var counts = Counts()
        for start in stride(from: 0, to: parts.count, by: Self.zonesAtOnce) {
            let some = Array(parts[start..<min(start + Self.zonesAtOnce, parts.count)])
            var scan = SegmentScan(some.map(\.1), today: today, reader, states)
            while let chunk = try await next(&scan) {
                for (index, (name, _)) in some.enumerated() {
                    guard let zone = zones.rules(name) else { continue }
                    let devices = chunk.evaluation.devices(of: index)
                    if quiet?.contains(now, in: zone) ?? false {
                        counts.quiet += devices.count
                    } else if !devices.isEmpty {
                        counts.capped += try await capped(devices, of: chunk, rules, zone)
                    }
                }
            }
        }
        return counts
    }

    private func rules() throws(CommandFailure) -> (rules: [CapRules], quiet: QuietHours?) {
        do throws(ScheduleError) {
            let own = try campaign.limits.rules(counted: [])
            var rules = own.isEmpty ? [] : [own]
            let budget = client.configuration.app(named: app)?.backgroundBudget.pushes ?? 0
            if budget > 0, campaign.isBackground { rules.append(.background(pushes: budget)) }
            return (rules, try campaign.limits.quietHours())
        } catch {
            throw .failed("the limits of the campaign cannot be applied: \(error)")
        }
    }

    private func next(_ scan: inout SegmentScan) async throws(CommandFailure) -> SegmentScan.Chunk? {
        var copy = scan
        let chunk = try await client.read { () throws(StoreError) in try await copy.next() }
        scan = copy
        return chunk
    }

    /// The number of devices that have reached one of their caps.
    private func capped(
        _ devices: OrdinalChunk, of chunk: SegmentScan.Chunk, _ rules: [CapRules], _ zone: TimeZoneRules
    ) async throws(CommandFailure) -> Int {
        let counters = rules.flatMap { $0.counters(at: now, in: zone) }
        guard !counters.isEmpty else { return 0 }
        let keys = counters.map { $0.key(partition: chunk.partition, chunk: chunk.number) }
        var free = devices
        for (counter, bytes) in zip(counters, try await client.call(ReadStrings(keys), app)) {
            guard let cap = counter.cap, let bytes, let counts = CapCounts(bytes: bytes) else { continue }
            free.subtract(counts.reached(cap: cap))
        }
        return devices.count - free.count
    }
}
