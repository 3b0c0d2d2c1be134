import Campaigns
import EventLoop
import Registry
import Segments
import StoreProtocol
import Variants

/// Counts the first rewards of devices for the variants of campaigns.
@Loop final class RewardCounter {
    /// The maximum number of definitions whose variants are remembered.
    private static let mostKnown = 100

    private let services: CampaignServices
    /// The names of the variants of definitions, so that not every reward parses a definition.
    private var known: [String: [String]] = [:]

    init(_ services: CampaignServices) { self.services = services }

    /// A reward with its index among the inputs of its step.
    private struct Entry {
        let index: Int
        let report: RewardReport

        func refusal(_ field: String, _ reason: String) -> FinishInputs.Refusal {
            FinishInputs.Refusal(
                index: index, subject: report.campaign, field: field, position: 0, reason: reason)
        }
    }

    /// Applies rewards. Applying the same rewards again changes nothing.
    ///
    /// - Returns: the refused rewards, in order.
    func handle(_ inputs: [[UInt8]]) async throws(StoreError) -> [FinishInputs.Refusal] {
        var refusals: [FinishInputs.Refusal] = []
        var entries: [Entry] = []
        for (index, input) in inputs.enumerated() {
            do throws(CampaignError) {
                entries.append(Entry(index: index, report: try RewardReport(input)))
            } catch {
                refusals.append(
                    FinishInputs.Refusal(
                        index: index, subject: nil, field: error.field, position: error.position,
                        reason: error.reason))
            }
        }
        for (campaign, entries) in Dictionary(grouping: entries, by: \.report.campaign) {
            refusals += try await count(entries, of: campaign)
        }
        return refusals.sorted { $0.index < $1.index }
    }

    private func count(
        _ entries: [Entry], of campaign: String
    ) async throws(StoreError) -> [FinishInputs.Refusal] {
        guard let names = try await variants(of: campaign) else {
            return entries.map { $0.refusal("campaign", "there is no campaign with this id") }
        }
        guard !names.isEmpty else {
            return entries.map { $0.refusal("campaign", "the campaign has no variants") }
        }
        let ids = entries.map(\.report.device)
        let found = try await services.retrying("find devices with rewards") { () throws(StoreError) in
            try await services.audience.namedPlaces(ofDevices: ids)
        }
        let places = Dictionary(
            found.map { (Array($0.id.utf8), $0.place) }, uniquingKeysWith: { first, _ in first })
        var assignments: [AudienceChunk: VariantAssignment] = [:]
        var rewards: [AudienceChunk: [MarkRewards.Reward]] = [:]
        var refusals: [FinishInputs.Refusal] = []
        for entry in entries {
            guard let place = places[Array(entry.report.device.utf8)] else {
                refusals.append(entry.refusal("device", "there is no device with this id"))
                continue
            }
            let chunk = AudienceChunk(partition: place.partition, number: place.ordinal / OrdinalChunk.size)
            let ordinal = place.ordinal % OrdinalChunk.size
            if assignments[chunk] == nil { assignments[chunk] = try await assignment(chunk, of: campaign) }
            guard let arm = assignments[chunk]?[UInt16(truncatingIfNeeded: ordinal)],
                let field = RewardTally.Number.rewards.field(of: arm, variants: names)
            else {
                refusals.append(entry.refusal("device", "the campaign has no variant for this device"))
                continue
            }
            rewards[chunk, default: []].append(
                .init(ordinal: ordinal, field: field, thousandths: entry.report.thousandths))
        }
        guard !rewards.isEmpty else { return refusals }
        let chunks = rewards.sorted { $0.key < $1.key }.map { chunk, rewards -> MarkRewards.Chunk in
            (chunk.partition, chunk.number, rewards)
        }
        _ = try await services.perform(
            MarkRewards(token: services.token, campaign: campaign, chunks: chunks))
        return refusals
    }

    private func assignment(
        _ chunk: AudienceChunk, of campaign: String
    ) async throws(StoreError) -> VariantAssignment {
        let key = CampaignBits.assigned.key(of: campaign, partition: chunk.partition, chunk: chunk.number)
        let bytes = try await services.perform(ReadStrings([key])).first ?? nil
        return VariantAssignment(bytes: bytes ?? []) ?? VariantAssignment()
    }

    /// The names of a campaign's variants; empty if it has none, and nil if there is no such campaign.
    private func variants(of campaign: String) async throws(StoreError) -> [String]? {
        let field = ReadCampaignField(campaign, CampaignRecord.Field.definition.rawValue)
        guard let definition = try await services.perform(field) else { return nil }
        if let names = known[definition] { return names }
        let parser = CampaignParser(zones: services.zones.find)
        let names = (try? parser.parse(Array(definition.utf8)))?.variants?.names ?? []
        if known.count >= Self.mostKnown { known = [:] }
        known[definition] = names
        return names
    }
}
