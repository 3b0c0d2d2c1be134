package import Scheduling
package import Segments

/// The merged pushes of one step of a campaign: which content each device gets, and what the step stores for other campaigns.
///
/// All devices are of one chunk.
package struct MergedStep: Sendable {
    /// Devices for which another campaign is due.
    package struct Candidate: Sendable {
        /// The number of the campaign among the other campaigns of the step.
        package let peer: Int
        package let member: MergeMember
        package let due: CampaignStateMachine.Due
        package let devices: OrdinalChunk
        let cells: AudienceCells

        package init(
            peer: Int, member: MergeMember, due: CampaignStateMachine.Due, devices: OrdinalChunk,
            cells: AudienceCells
        ) {
            (self.peer, self.member, self.due) = (peer, member, due)
            (self.devices, self.cells) = (devices, cells)
        }
    }

    /// What a step stores for devices for which another campaign was due.
    package struct Change: Sendable {
        package let peer: Int
        package let due: CampaignStateMachine.Due
        /// The devices that got the campaign's content.
        package let devices: OrdinalChunk
        /// The number of these devices in each cohort.
        package let cohorts: [Int: Int]
    }

    /// The content of the pushes to some devices.
    private struct Content {
        /// The indexes of the candidates whose content the pushes have.
        let candidates: [Int]
        /// The index of the payload.
        let payload: Int
    }

    private let chunk: AudienceChunk
    private let group: MergeGroup
    private let leader: MergeMember
    private let candidates: [Candidate]
    /// The devices that had a push of the group recently.
    package private(set) var recency: MergeRecency
    /// The contents by the indexes of the candidates that are due.
    private var contents: [[Int]: Content] = [:]
    private var texts: [[UInt8]] = []
    /// The indexes of the payloads by the campaigns whose content they have.
    private var payloads: [[Int]: Int] = [:]

    /// - Parameter leader: the content of the campaign whose step this is.
    package init(
        _ chunk: AudienceChunk, _ group: MergeGroup, leader: MergeMember, _ candidates: [Candidate],
        _ recency: MergeRecency
    ) {
        (self.chunk, self.group, self.leader) = (chunk, group, leader)
        (self.candidates, self.recency) = (candidates, recency)
    }

    // MARK: Content

    /// Decides about the content for devices, one after the other.
    ///
    /// - Returns: how many of the first devices the step can send to. The next device had a push too recently, or its payload
    ///   would be one too many for a step.
    package mutating func choose(_ ordinals: [UInt16]) -> Int {
        for (index, ordinal) in ordinals.enumerated() {
            guard recency.heldUntil(ordinal) == nil, content(for: ordinal) != nil else { return index }
        }
        return ordinals.count
    }

    private mutating func content(for ordinal: UInt16) -> Content? {
        let due = candidates.indices.filter { candidates[$0].devices[ordinal] }
        if let known = contents[due] { return known }
        let fitting = group.fitting(leader, due.map { (candidates[$0].member, candidates[$0].due.round) })
            .map { due[$0] }
        let peers = fitting.map { candidates[$0].peer }
        if payloads[peers] == nil {
            guard texts.count < MergedPayloads.most else { return nil }
            payloads[peers] = texts.count
            texts.append(group.payload(of: [leader] + fitting.map { candidates[$0].member }))
        }
        let content = Content(candidates: fitting, payload: payloads[peers] ?? 0)
        contents[due] = content
        return content
    }

    /// The index in ``merged`` of a device's payload. Only for devices that ``choose(_:)`` has accepted.
    package mutating func payload(for ordinal: UInt16) -> Int { content(for: ordinal)?.payload ?? 0 }

    /// The payloads of the step.
    package var merged: MergedPayloads { MergedPayloads(group: group, payloads: texts) }

    /// The latest end of the windows of all campaigns in the step's pushes; nil if one of them has no window.
    ///
    /// - Parameter own: the end of the window of the campaign whose step this is.
    package func expiry(_ own: UTCTime?) -> UTCTime? {
        Set(contents.values.flatMap(\.candidates)).reduce(own) { latest, index in
            guard let latest, let expiry = candidates[index].due.expiry else { return nil }
            return max(latest, expiry)
        }
    }

    // MARK: Results

    /// Notes the devices whose push is accepted.
    ///
    /// - Returns: what the step stores for the other campaigns, in the order of the candidates.
    package mutating func accept(_ ordinals: [UInt16]) -> [Change] {
        var devices = Array(repeating: [UInt16](), count: candidates.count)
        for ordinal in ordinals {
            recency.note(ordinal)
            for index in content(for: ordinal)?.candidates ?? [] { devices[index].append(ordinal) }
        }
        return zip(candidates, devices).compactMap { candidate, devices in
            guard !devices.isEmpty else { return nil }
            var cohorts: [Int: Int] = [:]
            for ordinal in devices {
                let full = chunk.firstOrdinal + Int(ordinal)
                cohorts[
                    candidate.cells.cell(partition: chunk.partition, ordinal: full).cohort, default: 0] += 1
            }
            return Change(
                peer: candidate.peer, due: candidate.due, devices: OrdinalChunk(devices), cohorts: cohorts)
        }
    }
}
