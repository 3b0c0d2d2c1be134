package import Scheduling

/// What the runner of a campaign does next.
package enum CampaignAction: Equatable, Sendable {
    /// Count the devices that still need the push of their group's present round (audience − done − sent), separately for each
    /// stage and cohort. Then call ``CampaignStateMachine/counted(_:of:at:)`` for each group. Counting needs no step.
    case count([AudienceCountRequest])
    /// Send to some devices of a chunk: choose them with ``AudienceSelection``, and store the step.
    case send(CampaignSend)
    /// Store a step without pushes, because a round or a stage has ended.
    case store
    /// Ask again at this time, or earlier. Commands and reports that change the run ask again at once.
    case wait(until: UTCTime)
    /// All rounds are over. The runner stores the last step and finishes the job.
    case finished
}

/// A request to count the devices of a group.
package struct AudienceCountRequest: Equatable, Sendable {
    /// The index of the group in ``CampaignStateMachine/groups``.
    package let group: Int
    package let round: Int
}

/// The devices of a group that need the push of a round.
package struct AudienceCount: Equatable, Sendable {
    /// The number of devices of each cell, in the order of ``AudienceCells``.
    package var cells: [Int]
    /// The chunks with at least one of the devices, in any order.
    package var chunks: [AudienceChunk]

    package init(cells: [Int], chunks: [AudienceChunk]) { (self.cells, self.chunks) = (cells, chunks) }

    package var total: Int { cells.reduce(0) { $0.adding(saturating: $1) } }
}

/// One step: pushes to devices of one chunk, group and cell.
package struct CampaignSend: Equatable, Sendable {
    /// The index of the group in ``CampaignStateMachine/groups``.
    package let group: Int
    package let round: Int
    package let cell: AudienceCells.Cell
    package let chunk: AudienceChunk
    /// The ordinals of the chunk among which the step chooses devices.
    package let ordinals: Range<Int>
    /// The maximum number of devices, 1 or more.
    package let most: Int
    /// Whether the push has the payload of `fallback`.
    package let isFallback: Bool
    /// When the window of the group ends; nil without a window.
    package let expiry: UTCTime?
}

/// What a step did with the devices that it chose.
package struct CampaignSent: Equatable, Sendable {
    package var accepted: Int
    package var capped: Int
    package var excluded: Int
    package var unsendable: Int
    /// ``AudienceSelection/Choice/next`` of the choice.
    package let next: Int
    /// ``AudienceSelection/Choice/isExhausted`` of the choice.
    package let isExhausted: Bool

    package init(
        accepted: Int, capped: Int = 0, excluded: Int = 0, unsendable: Int = 0, next: Int, isExhausted: Bool
    ) {
        (self.accepted, self.capped, self.excluded, self.unsendable) = (
            accepted, capped, excluded, unsendable
        )
        (self.next, self.isExhausted) = (next, isExhausted)
    }

    var handled: Int { accepted + capped + excluded + unsendable }
}
