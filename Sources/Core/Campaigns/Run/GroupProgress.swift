package import Scheduling

/// What a run has done for one group of devices that share a window.
package struct GroupProgress: Equatable, Sendable {
    /// What the group does now.
    package enum Phase: Equatable, Sendable {
        /// The round ``round`` begins at this time or later.
        case waiting(from: UTCTime)
        case sending
        /// The stage ``stage`` was sent at this time, and the next stage waits for its gate.
        case gated(since: UTCTime)
        case finished
    }

    /// The zone whose clocks the window follows; nil without a window.
    package let zone: String?
    package internal(set) var phase: Phase
    /// The present or next round, 1 or more.
    package internal(set) var round = 1
    /// The number of rounds that fitted when the first round began.
    package internal(set) var rounds = 1
    /// The index of the present stage.
    package internal(set) var stage = 0
    /// The devices that the round is for, and those that got a push or were left out for a reason.
    package internal(set) var counted = 0
    package internal(set) var handled = 0
    /// The devices that got the content of the next round before the round began, in pushes of other campaigns of the merge group.
    package internal(set) var ahead = 0
    /// When the last stage so far of the present round began.
    var began = UTCTime(milliseconds: 0)
    /// When the present stage ends by its plan.
    var plannedEnd = UTCTime(milliseconds: 0)
    /// The sending time of the whole round in milliseconds by its plan; 0 if the round uses the whole window or has a rate.
    var needed: Int64 = 0
    var cursor = SendCursor.start
    /// How often the last round searched for devices that joined behind its cursor.
    var sweeps = 0
    /// The marks of the round before, and of the present round.
    var earlierMarks = SendMarks()
    var marks = SendMarks()

    init(zone: String?, phase: Phase) { (self.zone, self.phase) = (zone, phase) }

    package var isFinished: Bool { phase == .finished }
    /// Whether no round follows the present round.
    package var isLastRound: Bool { round >= rounds }
}
