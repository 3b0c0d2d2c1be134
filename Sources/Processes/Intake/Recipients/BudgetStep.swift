import Campaigns
import ControlChannel
import EventLoop
import PushModel
import RedisClient
import Registry
import Scheduling
import Segments
import StoreProtocol

/// Applies the app's budget of background pushes to the jobs of one step of the look-ups.
///
/// The step counts the pushes that it does not leave out. The counters are stored by the call that finishes the jobs.
@Loop final class BudgetStep {
    /// The number of tokens that are looked up together.
    private static let tokensAtOnce = 500
    /// The maximum number of events of a step. Further left-out pushes are only counted.
    private static let mostEvents = 1_000
    /// The zone of devices that have none.
    private static let defaultZone = "UTC"

    private let lookups: RecipientLookups
    private let registry: RegistryReader
    private let rules: CapRules
    private let now: UTCTime
    private var filters: [AudienceChunk: CapFilter] = [:]
    /// The counters that are read, by their keys.
    private var known: Set<String> = []
    /// A zone at the time of a job's pushes, in milliseconds.
    private struct ZoneTime: Hashable {
        let zone: String
        let time: Int64
    }

    /// The counters of each zone at each time.
    private var zones: [ZoneTime: [CapCounter]] = [:]
    private(set) var events: [FarmEvent] = []

    init(_ lookups: RecipientLookups, _ registry: RegistryReader) {
        (self.lookups, self.registry) = (lookups, registry)
        rules = .background(pushes: Int(lookups.setup.backgroundBudget))
        now = UTCTime(milliseconds: lookups.context.redis.clock.milliseconds)
    }

    /// The new values of the counters.
    var counters: [StoreCampaignStep.StoredString] {
        filters.sorted { $0.key < $1.key }.flatMap { chunk, filter in
            filter.changes.map { counter, counts in
                StoreCampaignStep.StoredString(
                    key: counter.key(partition: chunk.partition, chunk: chunk.number), bytes: counts.bytes,
                    expiresAt: counter.expiresAt.milliseconds)
            }
        }
    }

    /// Decides which pushes of a job are left out, and counts the others in the hour of `deliver_at`, or in the present hour.
    ///
    /// - Returns: the indexes of the left-out pushes. A push to a token that no device has is never left out.
    func capped(_ job: ParsedJob) async throws(StoreError) -> Set<Int> {
        let time = job.deliverAt.map { UTCTime(seconds: $0) } ?? now
        var places: [Place?] = []
        for start in stride(from: 0, to: job.pushes.count, by: Self.tokensAtOnce) {
            let pushes = start..<min(start + Self.tokensAtOnce, job.pushes.count)
            let addresses = pushes.map { address(of: job, $0) }
            let devices = try await registry.devices(with: addresses)
            places += addresses.map { devices[$0].map { place($0, at: time) } }
        }
        try await load(places.compactMap(\.self))
        // From here on nothing can fail, so a caller that repeats a failed call counts no push twice.
        var capped: Set<Int> = []
        for (push, place) in places.enumerated() {
            guard let place, !take(place) else { continue }
            capped.insert(push)
            note(job, push)
        }
        return capped
    }

    private func address(of job: ParsedJob, _ push: Int) -> DeviceAddress {
        DeviceAddress(
            service: .apns, environment: lookups.setup.isSandbox ? .sandbox : .production, kind: .app,
            bytes: Array(job.tokenBytes[job.pushes[push].token]))
    }

    private func note(_ job: ParsedJob, _ push: Int) {
        guard events.count < Self.mostEvents, job.options.receipts != .none else { return }
        var event = FarmEvent(.pushCapped)
        if let id = job.id { event.add("job", id) }
        event.add("token", hex: job.tokenBytes[job.pushes[push].token])
        events.append(event)
    }

    // MARK: Counters

    /// A device's place in its chunk, with the counters of its zone.
    private struct Place {
        let chunk: AudienceChunk
        let ordinal: UInt16
        let counters: [CapCounter]
    }

    private func place(_ device: StoredDevice, at time: UTCTime) -> Place {
        let ordinal = device.place.ordinal
        return Place(
            chunk: AudienceChunk(
                partition: device.place.partition, number: ordinal / OrdinalChunk.size),
            ordinal: UInt16(clamping: ordinal % OrdinalChunk.size),
            counters: counters(of: device.record.zone ?? Self.defaultZone, at: time))
    }

    private func counters(of zone: String, at time: UTCTime) -> [CapCounter] {
        let key = ZoneTime(zone: zone, time: time.milliseconds)
        if let known = zones[key] { return known }
        let clocks = lookups.zones.find(zone) ?? lookups.zones.find(Self.defaultZone)
        let counters = clocks.map { rules.counters(at: time, in: $0) } ?? []
        zones[key] = counters
        return counters
    }

    /// Counts a push to a device, unless the device has used up the budget.
    private func take(_ place: Place) -> Bool {
        guard filters[place.chunk]?.reached(by: place.ordinal, place.counters) == nil else { return false }
        filters[place.chunk]?.count(place.ordinal, place.counters)
        return true
    }

    /// Reads the counters of these devices that are not read yet.
    private func load(_ places: [Place]) async throws(StoreError) {
        var (missing, keys): ([(key: String, chunk: AudienceChunk, counter: CapCounter)], Set<String>) = (
            [], known
        )
        for place in places {
            for counter in place.counters {
                let key = counter.key(partition: place.chunk.partition, chunk: place.chunk.number)
                if keys.insert(key).inserted { missing.append((key, place.chunk, counter)) }
            }
        }
        guard !missing.isEmpty else { return }
        for (entry, bytes) in zip(missing, try await lookups.store.perform(ReadStrings(missing.map(\.key)))) {
            known.insert(entry.key)
            let counts = CapCounts(bytes: bytes ?? [])
            if counts == nil {
                lookups.log.error(
                    "counts of the background budget cannot be read and begin at 0",
                    metadata: ["counter": "\(entry.counter.name)"])
            }
            filters[entry.chunk, default: CapFilter()].add(entry.counter, counts ?? CapCounts())
        }
    }
}

extension IntakeSetup {
    /// Whether the budget of background pushes limits a job, and was not yet applied to it.
    func needsBudget(_ job: ParsedJob) -> Bool {
        backgroundBudget > 0 && job.options.pushType == .background && job.capped == nil
    }
}
