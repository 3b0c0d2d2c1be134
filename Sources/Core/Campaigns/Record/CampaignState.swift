/// The state of a campaign. Whether an operator paused it is not a part of the state: a pause is that of the campaign's job.
package enum CampaignState: String, CaseIterable, Sendable {
    /// Created; waits for `start`.
    case draft
    /// Started; its start time has not come.
    case scheduled
    /// May send pushes.
    case running
    /// All rounds are over. Its pushes may still be open.
    case finished
    /// An operator cancelled it.
    case cancelled
    /// It could not start, for example because its pushes do not fit in the window.
    case refused

    /// Whether the state never changes again.
    package var isFinal: Bool { nextStates.isEmpty }

    /// The states that can follow this state.
    package var nextStates: [CampaignState] {
        switch self {
        case .draft: [.scheduled, .running, .cancelled, .refused]
        case .scheduled: [.running, .cancelled, .refused]
        case .running: [.finished, .cancelled]
        case .finished, .cancelled, .refused: []
        }
    }

    package func canBecome(_ next: CampaignState) -> Bool { nextStates.contains(next) }
}
