import Campaigns
import EventLoop
import Segments
import StoreProtocol

/// Counts the devices of a campaign that still need the push of a round, chunk by chunk.
@Loop struct AudienceCounter {
    let services: CampaignServices
    let id: String
    let audience: CampaignAudience
    /// For each partition, the first ordinal that is not in the audience.
    let audienceEnds: [Int]

    /// A part of the audience that needs the push of a round.
    struct Part {
        let members: CampaignGroup.Members
        let round: Int
        let cells: AudienceCells
    }

    struct Counts {
        /// The counts of the parts, in order.
        var parts: [AudienceCount]
        /// The chunks whose bitmaps cannot be read. They are in no count.
        var unreadable: [AudienceChunk] = []
    }

    /// All chunks that can have devices of the audience, in order.
    static func chunks(_ audienceEnds: [Int]) -> [AudienceChunk] {
        audienceEnds.enumerated().flatMap { partition, end in
            (0..<(max(0, end) + OrdinalChunk.size - 1) / OrdinalChunk.size).map {
                AudienceChunk(partition: partition, number: $0)
            }
        }
    }

    func count(_ parts: [Part]) async throws(StoreError) -> Counts {
        var counts = Counts(
            parts: parts.map { AudienceCount(cells: Array(repeating: 0, count: $0.cells.count), chunks: []) })
        let rounds = Set(parts.map(\.round)).sorted()
        let today = CampaignStep.today(services)
        for chunk in Self.chunks(audienceEnds) {
            guard !Task.isCancelled else { break }
            let members = try await services.retrying("count") { () throws(StoreError) in
                try await services.audience.members(
                    of: parts.map(\.members), of: audience, in: chunk, today: today)
            }
            guard let members, members.contains(where: { !$0.isEmpty }) else {
                if members == nil { counts.unreadable.append(chunk) }
                continue
            }
            let kinds = rounds.map { CampaignBits.sent(round: $0) } + [.done]
            let bits = try await services.retrying("count") { () throws(StoreError) in
                try await services.audience.bits(
                    kinds.map { $0.key(of: id, partition: chunk.partition, chunk: chunk.number) })
            }
            for (index, part) in parts.enumerated() {
                guard let round = rounds.firstIndex(of: part.round), let sent = bits[round] else {
                    if counts.unreadable.last != chunk { counts.unreadable.append(chunk) }
                    continue
                }
                let selection = AudienceSelection(
                    chunk, members: members[index], sent: sent, done: bits[rounds.count] ?? OrdinalChunk(),
                    limit: audienceEnds[checked: chunk.partition] ?? 0, cells: part.cells)
                guard !selection.isEmpty else { continue }
                selection.count(into: &counts.parts[index].cells)
                counts.parts[index].chunks.append(chunk)
            }
        }
        return counts
    }
}
