import Campaigns
import EventLoop
import Logging
import Scheduling
import Segments
import StoreProtocol

/// Reads which campaigns of the merge group are due for the devices of one step, and which devices had a push of the group too
/// recently.
@Loop struct MergeReader {
    /// The maximum number of bitmaps of other campaigns that one step stores.
    private static let mostBitmaps = 20

    /// The other campaigns of a step, and the bitmaps of the rounds for which they are due.
    @Loop struct Found {
        var step: MergedStep
        fileprivate let spacing: MergeSpacing
        fileprivate let group: String
        fileprivate let peers: [MergePeer]
        /// The devices to which a round of a campaign was sent.
        fileprivate let sent: [Bitmap: OrdinalChunk]
    }

    fileprivate struct Bitmap: Hashable {
        let peer: Int
        let round: Int
    }

    let services: CampaignServices
    let group: MergeGroup
    let spacing: MergeSpacing
    let leader: MergeMember
    let peers: [MergePeer]

    func read(_ ordinals: [UInt16], of chunk: AudienceChunk) async throws(StoreError) -> Found {
        var (candidates, sent): ([MergedStep.Candidate], [Bitmap: OrdinalChunk]) = ([], [:])
        for (number, peer) in peers.enumerated() where sent.count < Self.mostBitmaps {
            let found = try await read(peer, number, ordinals, of: chunk)
            candidates += found.candidates
            sent.merge(found.sent) { first, _ in first }
        }
        return Found(
            step: MergedStep(chunk, group, leader: leader, candidates, try await recency(of: chunk)),
            spacing: spacing, group: group.name, peers: peers, sent: sent)
    }

    private func recency(of chunk: AudienceChunk) async throws(StoreError) -> MergeRecency {
        let now = services.now
        let keys = MergeRecency.slots(spacing, at: now).map {
            spacing.key($0, of: group.name, partition: chunk.partition, chunk: chunk.number)
        }
        let bitmaps = try await services.audience.bits(keys).map { bits in
            if bits == nil {
                services.log.error(
                    "the recent pushes of a merge group cannot be read", metadata: ["merge": "\(group.name)"])
            }
            return bits ?? OrdinalChunk()
        }
        return MergeRecency(spacing, at: now, bitmaps)
    }

    private func read(
        _ peer: MergePeer, _ number: Int, _ ordinals: [UInt16], of chunk: AudienceChunk
    ) async throws(StoreError) -> (candidates: [MergedStep.Candidate], sent: [Bitmap: OrdinalChunk]) {
        let members = try await services.audience.members(
            of: peer.due.map { peer.run.groups[$0.group].members }, of: peer.audience, in: chunk,
            today: CampaignStep.today(services))
        guard let members, members.contains(where: { !$0.isEmpty }) else { return ([], [:]) }
        let rounds = Set(peer.due.map(\.round)).sorted()
        let bits = try await services.audience.bits(
            (rounds.map { CampaignBits.sent(round: $0) } + [.done]).map {
                $0.key(of: peer.campaign.id, partition: chunk.partition, chunk: chunk.number)
            })
        var (candidates, used): ([MergedStep.Candidate], [Bitmap: OrdinalChunk]) = ([], [:])
        for (due, members) in zip(peer.due, members) {
            // Without the bits of the round, a device could get the content twice.
            guard let index = rounds.firstIndex(of: due.round), let sent = bits[index] else { continue }
            let cells = peer.run.cells(ofRound: due.round)
            let devices = AudienceSelection(
                chunk, members: members, sent: sent, done: bits[rounds.count] ?? OrdinalChunk(),
                limit: peer.audienceEnds[checked: chunk.partition] ?? 0, cells: cells
            ).devices(among: ordinals, ofStage: due.stage)
            guard !devices.isEmpty else { continue }
            candidates.append(
                .init(peer: number, member: peer.member, due: due, devices: devices, cells: cells))
            used[Bitmap(peer: number, round: due.round)] = sent
        }
        return (candidates, used)
    }
}

extension MergeReader.Found {
    /// What a step stores for merged pushes.
    struct Stored {
        /// The bits of the devices.
        var strings: [StoreCampaignStep.StoredString] = []
        /// The other campaigns, with their changes and the runs after them.
        var campaigns:
            [(campaign: RunningCampaign, request: StoreCampaignStep.Merged, run: CampaignStateMachine)] = []
    }

    /// - Parameter ordinals: the devices whose push is accepted.
    mutating func stored(_ ordinals: [UInt16], of chunk: AudienceChunk) -> Stored {
        guard !ordinals.isEmpty else { return Stored() }
        let changes = step.accept(ordinals)
        var (runs, bitmaps): ([Int: CampaignStateMachine], [MergeReader.Bitmap: OrdinalChunk]) = ([:], [:])
        for change in changes {
            runs[change.peer, default: peers[change.peer].run].merged(change.due, cohorts: change.cohorts)
            let bitmap = MergeReader.Bitmap(peer: change.peer, round: change.due.round)
            bitmaps[bitmap, default: sent[bitmap] ?? OrdinalChunk()].formUnion(change.devices)
        }
        let slot = step.recency.slot
        var stored = Stored()
        stored.strings = [
            .init(
                key: spacing.key(slot, of: group, partition: chunk.partition, chunk: chunk.number),
                bytes: step.recency.present.bytes, expiresAt: spacing.expiry(ofSlot: slot).milliseconds)
        ]
        stored.strings += bitmaps.map { bitmap, bits in
            let kind = CampaignBits.sent(round: bitmap.round)
            return .init(
                key: kind.key(
                    of: peers[bitmap.peer].campaign.id, partition: chunk.partition, chunk: chunk.number),
                bytes: bits.bytes)
        }
        stored.campaigns = runs.map { number, run in
            let peer = peers[number]
            let request = StoreCampaignStep.Merged(
                campaign: peer.campaign.id, step: peer.step, lastStep: peer.lastStep,
                fields: [
                    CampaignRecord.Field.progress.rawValue: String(decoding: run.progress.json, as: UTF8.self)
                ],
                counts: Dictionary(
                    run.unstored.additions.map { ($0.field, $0.number) }, uniquingKeysWith: +))
            return (peer.campaign, request, run)
        }
        return stored
    }
}
