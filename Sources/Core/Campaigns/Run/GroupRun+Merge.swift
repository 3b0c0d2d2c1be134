import Scheduling

extension GroupRun {
    /// The round and the stage whose devices get the group's content when another campaign of the merge group sends them a push;
    /// nil if no device does.
    ///
    /// - Parameter gap: the least time between two pushes of the merge group, in milliseconds. A later round is due early if it
    ///   begins within this time, because its device will get no push at its begin.
    func dueRound(at time: UTCTime, gap: Int64) -> (round: Int, stage: Int)? {
        guard isAllowed(at: time) else { return nil }
        switch progress.phase {
        case .finished, .gated: return nil
        case .sending: return (progress.round, progress.stage)
        case .waiting(let from):
            let latest = progress.round > 1 ? time.adding(milliseconds: gap) : time.adding(milliseconds: 1)
            return from < latest ? (progress.round, 0) : nil
        }
    }
}
