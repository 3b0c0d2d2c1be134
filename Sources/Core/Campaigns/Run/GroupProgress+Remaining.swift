package import Scheduling

extension GroupProgress {
    /// Estimates the milliseconds until the present stage of the round ends; nil while the group does not send.
    ///
    /// The estimate is the end by the plan. In the first stage it is less if the pace so far would finish earlier, because the plan
    /// of a campaign with a rate ends with the window.
    package func remaining(at now: UTCTime) -> Int64? {
        guard phase == .sending else { return nil }
        let planned = max(0, plannedEnd.milliseconds - now.milliseconds)
        let (elapsed, left) = (now.milliseconds - began.milliseconds, max(0, counted - handled))
        guard stage == 0, handled > 0, elapsed > 0 else { return planned }
        return min(planned, Int64(clamping: Double(elapsed) * Double(left) / Double(handled)))
    }
}
