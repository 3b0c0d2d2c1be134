import Campaigns
import EventLoop
import Segments
import StoreProtocol
import Variants

/// The variants of the devices that one step of a campaign chose.
///
/// The step stores the assignments together with the bits of its devices. So a device keeps its variant in later rounds, and after
/// a takeover.
struct VariantStep {
    private let names: [String]
    /// The key of the chunk's assignments without the prefix.
    private let key: String
    private let before: VariantAssignment
    private var after: VariantAssignment

    /// Reads the assignments of a chunk, and assigns the devices of a step that have none.
    ///
    /// - Parameters:
    ///   - series: the series whose results decide beside the campaign's own; nil for no series.
    ///   - step: the number of the step.
    /// - Returns: nil if the assignments of the chunk cannot be read.
    @Loop static func draw(
        _ ordinals: [UInt16], of chunk: AudienceChunk, for campaign: Campaign, id: String,
        series: String?, isExploring: Bool, step: Int, services: CampaignServices
    ) async throws(StoreError) -> VariantStep? {
        guard let variants = campaign.variants else { return nil }
        let key = CampaignBits.assigned.key(of: id, partition: chunk.partition, chunk: chunk.number)
        let stored = try await services.perform(ReadStrings([key])).first ?? nil
        guard let before = VariantAssignment(bytes: stored ?? []) else { return nil }
        let tally = try await results(of: variants, id: id, series: series, services)
        let shares = variants.policy.shares(
            isExploring: isExploring, tallies: tally.tallies,
            seed: LearningPolicy.seed(campaign: id, step: step))
        let draw = VariantDraw(
            shares: shares, holdout: variants.holdout, campaign: id, series: campaign.salt(id: id))
        var step = VariantStep(names: variants.names, key: key, before: before, after: before)
        for ordinal in ordinals {
            _ = step.after.assign(
                ordinal,
                to: draw.arm(partition: chunk.partition, ordinal: chunk.firstOrdinal + Int(ordinal)))
        }
        return step
    }

    /// Reads the results of a campaign's variants, or of its series.
    @Loop static func results(
        of variants: CampaignVariants, id: String, series: String?, _ services: CampaignServices
    ) async throws(StoreError) -> RewardTally {
        let fields = RewardTally.fields(ofVariants: variants.names)
        let values = try await services.perform(
            ReadVariantNumbers(campaign: id, series: series, fields: fields))
        let known = zip(fields, values).compactMap { field, value in value.map { (field, $0) } }
        return RewardTally(
            variants: variants.names, fields: Dictionary(known, uniquingKeysWith: { first, _ in first }))
    }

    private init(names: [String], key: String, before: VariantAssignment, after: VariantAssignment) {
        (self.names, self.key, self.before, self.after) = (names, key, before, after)
    }

    /// The devices with the payloads of their variants. Held-out devices get no push.
    func devices(_ devices: [StepPushes.Device], _ ordinals: [UInt16]) -> [StepPushes.Device] {
        zip(devices, ordinals).map { device, ordinal in
            guard case .push(let push) = device else { return device }
            switch after[ordinal] {
            case .variant(let index): return .push(push.with(variant: index))
            case .holdout: return .heldOut
            case nil: return device
            }
        }
    }

    /// The assignments to store, and the numbers of newly assigned devices to add to the campaign's record.
    ///
    /// - Parameters:
    ///   - devices: the devices that the step handles. Devices without a push get no assignment.
    ///   - ordinals: their ordinals.
    func stored(
        _ devices: some Sequence<StepPushes.Device>, _ ordinals: some Sequence<UInt16>
    ) -> (string: (key: String, bytes: [UInt8]), counts: [(name: String, number: Int)])? {
        var assigned = before
        var pulls: [String: Int] = [:]
        for (device, ordinal) in zip(devices, ordinals) {
            guard before[ordinal] == nil, let arm = after[ordinal] else { continue }
            switch device {
            case .push, .heldOut: break
            default: continue
            }
            _ = assigned.assign(ordinal, to: arm)
            if let field = RewardTally.Number.pulls.field(of: arm, variants: names) {
                pulls[field, default: 0] += 1
            }
        }
        guard !pulls.isEmpty else { return nil }
        return ((key, assigned.bytes), pulls.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }
}
