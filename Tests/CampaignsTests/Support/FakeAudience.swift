import Campaigns
import RandomTesting
import Scheduling
import Segments

/// Devices of a campaign, and the bits that its steps store.
struct FakeAudience {
    struct Device {
        let partition: Int
        let ordinal: Int
        var zone: String
        var isMember = true
        var isDone = false
        /// Whether the device was in the audience from the start, and always in the same zone.
        var isSteady = true
        /// The round and the time of each push.
        var pushes: [(round: Int, time: UTCTime)] = []
    }

    static let partitions = 2
    var devices: [Device] = []
    /// The places of the devices with a stored bit, by round.
    private(set) var sent: [Int: Set<Int>] = [:]
    /// For each partition and chunk, the devices in it.
    private var byChunk: [AudienceChunk: [Int]] = [:]

    init(_ count: Int, zones: [String], using random: inout SplitMix) {
        var used: Set<Int> = []
        while devices.count < count {
            let (partition, ordinal) = (random.int(in: 0...1), random.int(in: 0...131_071))
            guard used.insert(partition << 24 | ordinal).inserted else { continue }
            byChunk[AudienceChunk(partition: partition, number: ordinal >> 16), default: []].append(
                devices.count)
            devices.append(
                Device(
                    partition: partition, ordinal: ordinal, zone: zones[random.int(in: 0...zones.count - 1)]))
        }
    }

    private func isIn(_ device: Device, _ group: CampaignGroup) -> Bool {
        guard device.isMember else { return false }
        switch group.members {
        case .all: return true
        case .zone(let name): return device.zone == name
        case .others(let names): return !names.contains(device.zone)
        }
    }

    func selection(
        _ chunk: AudienceChunk, _ group: CampaignGroup, round: Int, _ cells: AudienceCells
    ) -> AudienceSelection {
        let indexes = byChunk[chunk] ?? []
        func chunkOf(_ isIncluded: (Int) -> Bool) -> OrdinalChunk {
            OrdinalChunk(indexes.lazy.filter(isIncluded).map { UInt16(devices[$0].ordinal & 0xFFFF) })
        }
        return AudienceSelection(
            chunk, members: chunkOf { isIn(devices[$0], group) },
            sent: chunkOf { sent[round]?.contains($0) == true }, done: chunkOf { devices[$0].isDone },
            limit: 1 << 24, cells: cells)
    }

    func count(_ group: CampaignGroup, round: Int, _ cells: AudienceCells) -> AudienceCount {
        var count = AudienceCount(cells: Array(repeating: 0, count: cells.count), chunks: [])
        for chunk in byChunk.keys {
            let selection = selection(chunk, group, round: round, cells)
            selection.count(into: &count.cells)
            if !selection.isEmpty { count.chunks.append(chunk) }
        }
        return count
    }

    /// Stores the bits of a step.
    mutating func store(_ ordinals: [UInt16], of chunk: AudienceChunk, round: Int, at time: UTCTime) throws {
        let chosen = Set(ordinals)
        for index in byChunk[chunk] ?? [] where chosen.contains(UInt16(devices[index].ordinal & 0xFFFF)) {
            try BrokenInvariant.unless(!devices[index].isDone, "a device that is done got a push")
            let isNew = sent[round, default: []].insert(index).inserted
            try BrokenInvariant.unless(isNew, "a device got two pushes of round \(round)")
            devices[index].pushes.append((round, time))
        }
    }
}
