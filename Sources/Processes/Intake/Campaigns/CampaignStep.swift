import Campaigns
import EventLoop
import Registry
import Scheduling
import Segments
import StoreProtocol

/// Prepares one step of a campaign: chooses devices of a chunk, reads their records, and makes their pushes.
@Loop struct CampaignStep {
    let services: CampaignServices
    let id: String
    let campaign: Campaign
    /// For each partition, the first ordinal that is not in the audience.
    let audienceEnds: [Int]
    let audience: CampaignAudience
    /// The names of the attributes that the pushes contain as values.
    let attributes: [String]
    /// The number of the step.
    let step: Int
    /// The series whose results the campaign's variants use; nil for no series.
    let series: String?
    /// Reads the other campaigns of the merge group; nil for a campaign that is not merged.
    let merging: MergeReader?

    /// The result of a step's preparation.
    enum Result {
        /// No device needs the push, so nothing must be stored.
        case nothing(CampaignSent)
        /// The chunk's bitmaps cannot be read, or the campaign's limits cannot be applied.
        case unreadable
        /// The next device had a push of the merge group too recently. It may get the next push at this time.
        case held(until: UTCTime)
        /// The list was removed after the run read it.
        case listRemoved
        case prepared(Prepared)
    }

    struct Prepared {
        let sent: CampaignSent
        let batches: [Split.NewBatch]
        /// The strings to store with the step: the chunk's bits, counts of caps, and assignments of variants.
        let strings: [StoreCampaignStep.StoredString]
        /// Further counts to add to the campaign's record.
        let counts: [(name: String, number: Int)]
        /// Why the first of the unsendable devices got no push; nil if there is none.
        let fault: String?
        /// The changes of the campaigns whose content the pushes contain.
        let merged:
            [(campaign: RunningCampaign, request: StoreCampaignStep.Merged, run: CampaignStateMachine)]
    }

    /// The devices that the step chose.
    private struct Choice {
        var ordinals: [UInt16]
        /// The first ordinal in the chunk that the step did not look at.
        var next: Int
        /// Whether the chunk has no further devices of the cell.
        var isExhausted: Bool

        /// Keeps the first devices, so that the next step begins with the first of the other devices.
        mutating func keep(_ count: Int) {
            guard count < ordinals.count else { return }
            (next, isExhausted) = (Int(ordinals[count]), false)
            ordinals.removeSubrange(count...)
        }
    }

    /// - Parameters:
    ///   - send: what the campaign's run asks for.
    ///   - members: the send's group within the audience.
    ///   - cells: the cells of the send's round.
    func prepare(
        _ send: CampaignSend, members group: CampaignGroup.Members, cells: AudienceCells
    ) async throws(StoreError) -> Result {
        let chunk = send.chunk
        let keys = [
            CampaignBits.sent(round: send.round).key(
                of: id, partition: chunk.partition, chunk: chunk.number),
            CampaignBits.done.key(of: id, partition: chunk.partition, chunk: chunk.number),
        ]
        let members = try await services.audience.members(
            of: [group], of: audience, in: chunk, today: Self.today(services))
        let bits = try await services.audience.bits(keys)
        // Without the bits of the round, a device could get the push twice. Without the bits of devices that are done, a device
        // only gets a push that it does not need.
        guard let members, let sent = bits[0] else { return .unreadable }
        let selection = AudienceSelection(
            chunk, members: members[0], sent: sent, done: bits[1] ?? OrdinalChunk(),
            limit: audienceEnds[checked: chunk.partition] ?? 0, cells: cells)
        let chosen = selection.choose(
            send.cell, from: send.ordinals.lowerBound, to: send.ordinals.upperBound, most: send.most)
        var choice = Choice(
            ordinals: chosen.ordinals, next: chosen.next, isExhausted: chosen.isExhausted)
        guard !choice.ordinals.isEmpty else {
            return .nothing(CampaignSent(accepted: 0, next: choice.next, isExhausted: choice.isExhausted))
        }
        var merge: MergeReader.Found?
        if let merging, !send.isFallback {
            var found = try await merging.read(choice.ordinals, of: chunk)
            choice.keep(found.step.choose(choice.ordinals))
            if choice.ordinals.isEmpty {
                let until = found.step.recency.heldUntil(UInt16(clamping: choice.next))
                return .held(until: until ?? services.now)
            }
            merge = found
        }
        guard let found = try await devices(choice.ordinals, of: chunk) else { return .listRemoved }
        let reader = AudienceLimitsReader(
            services: services, campaign: campaign, isFallback: send.isFallback)
        var limits: AppliedLimits?
        switch try await reader.read(found.map(\.zone), of: chunk) {
        case .unlimited: break
        case .limits(let read): limits = read
        case .invalid(let error):
            services.log.error(
                "limits of a campaign cannot be applied: devices get no push",
                metadata: ["campaign": "\(id)", "reason": "\(error)"])
            return .unreadable
        }
        var devices = found.map(\.device)
        if let limits {
            for (index, ordinal) in choice.ordinals.enumerated() {
                devices[index].limit(limits.verdict(on: ordinal, at: index))
            }
        }
        var variants: VariantStep?
        if campaign.variants != nil {
            variants = try await VariantStep.draw(
                choice.ordinals, of: chunk, for: campaign, id: id, series: series,
                isExploring: campaign.isExploring(round: send.round, stage: send.cell.stage), step: step,
                services: services)
            guard let variants else { return .unreadable }
            devices = variants.devices(devices, choice.ordinals)
        }
        for (index, ordinal) in choice.ordinals.enumerated() {
            guard let payload = merge?.step.payload(for: ordinal) else { break }
            devices[index].merge(payload)
        }
        let pushes = await pushes(to: devices, send, merge?.step)
        let handled = choice.ordinals.prefix(pushes.handled)
        var after = sent
        for ordinal in handled { after[ordinal] = true }
        for index in pushes.acceptedIndexes { limits?.count(choice.ordinals[index], at: index) }
        let merged = merge?.stored(pushes.acceptedIndexes.map { choice.ordinals[$0] }, of: chunk)
        let assigned = variants?.stored(devices.prefix(pushes.handled), handled)
        let isWhole = handled.count == choice.ordinals.count
        return .prepared(
            Prepared(
                sent: CampaignSent(
                    accepted: pushes.accepted, capped: pushes.capped, excluded: pushes.excluded,
                    unsendable: pushes.unsendable,
                    next: isWhole ? choice.next : Int(choice.ordinals[handled.count]),
                    isExhausted: isWhole && choice.isExhausted),
                batches: pushes.batches,
                strings: [.init(key: keys[0], bytes: after.bytes)] + (limits?.strings(of: chunk) ?? [])
                    + (assigned.map { [.init(key: $0.string.key, bytes: $0.string.bytes)] } ?? [])
                    + (merged?.strings ?? []),
                counts: assigned?.counts ?? [],
                fault: pushes.fault, merged: merged?.campaigns ?? []))
    }

    /// The number of days since 1970-01-01 UTC.
    static func today(_ services: CampaignServices) -> Int {
        Int(clamping: services.now.seconds / 86_400)
    }

    /// - Returns: nil if the list was removed.
    private func devices(
        _ ordinals: [UInt16], of chunk: AudienceChunk
    ) async throws(StoreError) -> [(device: StepPushes.Device, zone: String?)]? {
        if case .list(let list) = audience {
            let rows = try await services.audience.lists.rows(ordinals, of: chunk, in: list)
            return rows?.map { row in
                let device: StepPushes.Device =
                    if let row { .push(.row(row)) } else { .unsendable("the row of the list cannot be read") }
                return (device, nil)
            }
        }
        let page = try await services.audience.devices(ordinals, of: chunk)
        var found: [Int: (StepPushes.Device, String?)] = [:]
        for place in page.unreadable {
            found[place.ordinal] = (.unsendable("the device's record cannot be read"), nil)
        }
        for device in page.devices {
            found[device.place.ordinal] = (self.device(device.record), device.record.zone)
        }
        return ordinals.map { found[chunk.firstOrdinal + Int($0)] ?? (.removed, nil) }
    }

    private func device(_ record: DeviceRecord) -> StepPushes.Device {
        let environment: DeviceAddress.Environment = services.setup.isSandbox ? .sandbox : .production
        let address = record.addresses.first { stored in
            stored.address.service == .apns && stored.address.kind == .app
                && stored.address.environment == environment
        }
        guard let address else {
            return .unsendable("the device has no address of the environment \(environment.name)")
        }
        return .push(
            CampaignDevice(
                token: address.address.bytes, lang: record.lang,
                values: attributes.compactMap { name in
                    record.value(ofAttribute: name).map { (name, .text($0)) }
                }))
    }

    private func pushes(
        to devices: [StepPushes.Device], _ send: CampaignSend, _ merge: MergedStep?
    ) async -> StepPushes {
        var limits = services.jobLimits
        limits.tokens = max(limits.tokens, CampaignStateMachine.mostDevices)
        let rules = StepPushes.Rules(
            app: services.setup.name, topic: services.setup.topic, limits: limits, now: services.now.seconds,
            shards: services.context.shards)
        let (merged, expiry) = (merge?.merged, merge.map { $0.expiry(send.expiry) } ?? send.expiry)
        return await services.working {
            StepPushes(
                devices, of: campaign, id: id, rules: rules, isFallback: send.isFallback, expiry: expiry,
                merged: merged)
        }
    }
}
