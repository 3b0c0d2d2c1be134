import CheckedNumbers
import Scheduling

extension GroupSettings {
    /// The work of the present round that follows the present stage or wait.
    private struct Rest {
        /// When the work begins.
        var start: UTCTime
        /// The share of the round's devices that later stages have, 0 to 1.
        var share: Double
        /// The waits between these stages in milliseconds.
        var waits: Int64 = 0
        /// Pushes a millisecond so far; nil if nothing was sent in the present stage.
        var pace: Double?
    }

    /// Estimates the milliseconds until the group has sent all its stages and rounds; nil for a finished group.
    ///
    /// The estimate assumes that no device becomes done, and that an operator resumes at once after a stage. A group whose first
    /// round has not begun does not know its devices; with a rate, only its wait counts.
    ///
    /// - Parameter ceiling: the highest rate in pushes a second.
    func remaining(
        of progress: GroupProgress, at now: UTCTime, released: Int, ceiling: Double
    ) -> Int64? {
        guard let rest = rest(of: progress, at: now, released: released) else { return nil }
        let pace = rest.pace ?? ceiling / 1000
        var end = end(of: rest, progress, pace: pace)
        guard let every = schedule.repetition?.every else { return milliseconds(from: now, to: end) }
        var rounds = progress.rounds
        if case .waiting = progress.phase, progress.round == 1 {
            let group = times.rest(from: rest.start, devices: max(1, progress.counted))
            rounds = RoundPlanner(group, schedule, rate: rate).rounds
        }
        var begin = lastStageBegin(of: rest, progress, end: end)
        for _ in min(progress.round, rounds)..<rounds {
            begin = times.opening(at: max(begin.adding(milliseconds: every), end))
            guard begin < windowEnd else { break }
            end = self.end(of: Rest(start: begin, share: 1), progress, pace: pace)
        }
        return milliseconds(from: now, to: end)
    }

    private func milliseconds(from now: UTCTime, to end: UTCTime) -> Int64 {
        max(0, min(end, windowEnd).milliseconds - now.milliseconds)
    }

    private func rest(of progress: GroupProgress, at now: UTCTime, released: Int) -> Rest? {
        let stage = progress.stage
        let hasStages = progress.round == 1 && progress.sweeps == 0 && !schedule.stages.isEmpty
        let share = hasStages ? schedule.stages[checked: stage]?.share ?? 1 : 1
        let before = hasStages && stage > 0 ? schedule.stages[checked: stage - 1]?.share ?? 0 : 0
        switch progress.phase {
        case .finished: return nil
        case .waiting(let from):
            return Rest(start: max(now, from), share: 1, waits: hasStages ? waits(after: progress) : 0)
        case .gated(let since):
            var start = now
            if case .wait? = schedule.stages[checked: stage]?.gate {
                start = max(now, gateOpens(after: progress, since: since, released: released) ?? now)
            }
            return Rest(start: start, share: 1 - share, waits: waits(afterStage: stage + 1))
        case .sending:
            let (counted, elapsed) = (
                Double(progress.counted), Double(now.milliseconds - progress.began.milliseconds)
            )
            let handled = Double(progress.handled) - before * counted
            let left = max(0, share * counted - Double(progress.handled))
            var end = max(now, progress.plannedEnd)
            var pace: Double?
            if handled > 0, elapsed > 0 {
                pace = handled / elapsed
                end = min(end, now.adding(milliseconds: Int64(clamping: left * elapsed / handled)))
            }
            return Rest(
                start: end, share: 1 - share, waits: hasStages ? waits(after: progress) : 0, pace: pace)
        }
    }

    private func waits(afterStage stage: Int) -> Int64 {
        schedule.stages.dropFirst(stage).dropLast().reduce(0) { sum, stage in
            if case .wait(let milliseconds) = stage.gate { sum + milliseconds } else { sum }
        }
    }

    /// - Parameter pace: pushes a millisecond, above 0, for a schedule with a rate.
    private func end(of rest: Rest, _ progress: GroupProgress, pace: Double) -> UTCTime {
        guard rest.share > 0 else { return rest.start }
        let needed: Int64
        if rate != nil {
            needed = Int64(clamping: rest.share * Double(progress.counted) / pace)
        } else if let length = schedule.roundLength {
            let whole = times.rest(from: rest.start, devices: 1)
            let end = whole.end(of: length, from: rest.start)
            let all = whole.allowed.clipped(to: rest.start..<max(rest.start, end)).total
            needed = Int64(clamping: rest.share * Double(all))
        } else {
            return max(rest.start, windowEnd)
        }
        let allowed = times.allowed
        let position = allowed.position(of: rest.start).adding(
            saturating: needed.adding(saturating: rest.waits))
        return max(rest.start, allowed.slice(0..<position).ranges.last?.upperBound ?? rest.start)
    }

    /// About when the last stage of the present round begins.
    private func lastStageBegin(of rest: Rest, _ progress: GroupProgress, end: UTCTime) -> UTCTime {
        if rest.share == 0 { return progress.began }
        guard progress.round == 1, let before = schedule.stages.dropLast().last?.share else {
            return rest.start
        }
        let sending = Double(max(0, end.milliseconds - rest.start.milliseconds - rest.waits))
        return end.adding(milliseconds: -Int64(clamping: sending * min(1, (1 - before) / rest.share)))
    }
}
