import Campaigns
import EventLoop
import Registry
import Segments
import StoreProtocol

/// Compares the counts of an app's campaigns with the bits of their devices. The campaigns may run.
@Loop struct CampaignCheck {
    let app: String
    let client: FarmClient

    /// The number of ids that one request reads.
    private static let page = 100
    /// How often the check reads a campaign until it has two results with faults, or one without.
    private static let passes = 2
    /// How often a pass begins again because Redis lost changes.
    private static let attempts = 3
    /// The bits of a campaign expire a little before its record. A campaign with less time than this is not checked.
    private static let leastLife = Duration.seconds(3600)

    /// The faults as texts, or empty if all counts agree with the bits.
    func faults() async throws(CommandFailure) -> [String] {
        var (faults, known, start): ([String], Set<String>, Int) = ([], [], 0)
        while true {
            let ids = try await client.call(LatestCampaigns(from: start, count: Self.page), app)
            // A campaign that is created meanwhile moves the others to later pages.
            for id in ids where known.insert(id).inserted { faults += try await check(id) }
            if ids.count < Self.page { return faults }
            start += ids.count
        }
    }

    private func check(_ id: String) async throws(CommandFailure) -> [String] {
        let name = PlainText.of(id)
        let type = try await client.call(ReadKeyType("campaign:\(id)"), app)
        guard type == "hash" else {
            return type == "none" ? [] : ["campaign \(name): the record is a \(type), not a hash"]
        }
        var faults: [String] = []
        for _ in 0..<Self.passes {
            faults = try await pass(id, name)
            if faults.isEmpty { break }
        }
        return faults
    }

    private func pass(_ id: String, _ name: String) async throws(CommandFailure) -> [String] {
        for _ in 0..<Self.attempts {
            let first = CampaignRecord(fields: try await client.call(ReadCampaign(id), app))
            // Without a start, the campaign has no chunks.
            guard !first.audienceEnds.isEmpty else { return [] }
            var check = CampaignBitCheck(name, first)
            for (partition, end) in first.audienceEnds.enumerated() {
                let limit = min(end, DevicePlace.largestOrdinal + 1)
                for chunk in 0..<(limit + OrdinalChunk.size - 1) / OrdinalChunk.size {
                    try await read(AudienceChunk(partition: partition, number: chunk), of: id, &check)
                }
            }
            let rest = try await client.call(ReadKeyExpiry("campaign:\(id)"), app)
            let fields = try await client.call(ReadCampaign(id), app)
            guard !fields.isEmpty, rest.map({ $0 > Self.leastLife }) ?? true else { return [] }
            let second = CampaignRecord(fields: fields)
            if !check.isOutdated(by: second) { return check.faults(second) }
        }
        return []
    }

    private func read(
        _ chunk: AudienceChunk, of id: String, _ check: inout CampaignBitCheck
    ) async throws(CommandFailure) {
        let bitmaps = check.bitmaps
        let keys = bitmaps.map { bitmap in
            let kind: CampaignBits =
                switch bitmap {
                case .sent(let round): .sent(round: round)
                case .done: .done
                case .rewarded: .rewarded
                case .assigned: .assigned
                }
            return kind.key(of: id, partition: chunk.partition, chunk: chunk.number)
        }
        for (bitmap, bytes) in zip(bitmaps, try await client.call(ReadStrings(keys), app)) {
            check.add(bytes, of: bitmap, in: chunk)
        }
    }
}
