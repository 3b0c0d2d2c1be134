import Campaigns
import StoreProtocol

/// The devices that a campaign skips, as events that the campaign's next step writes.
struct SkippedDevices {
    /// The maximum number of events of a step. Further events are not kept.
    private static let mostEvents = 16

    private let campaign: String
    private(set) var events: [FarmEvent] = []
    private var unreadable: Set<AudienceChunk> = []

    init(campaign: String) { self.campaign = campaign }

    /// Notes that no device of a chunk gets the push.
    ///
    /// - Returns: the reason; nil if the chunk was noted before.
    mutating func add(unreadable chunk: AudienceChunk) -> String? {
        guard unreadable.insert(chunk).inserted else { return nil }
        let reason = "chunk \(chunk.number) of partition \(chunk.partition) cannot be read"
        add(nil, reason: reason)
        return reason
    }

    /// - Parameter devices: the number of skipped devices; nil if it is unknown.
    mutating func add(_ devices: Int?, reason: String) {
        guard events.count < Self.mostEvents else { return }
        var event = FarmEvent(.campaignSkipped)
        event.add("campaign", campaign)
        if let devices { event.add("devices", "\(devices)") }
        event.add("reason", reason)
        events.append(event)
    }

    /// Notes that a step wrote the first `count` events.
    mutating func markStored(_ count: Int) { events.removeFirst(count) }
}
