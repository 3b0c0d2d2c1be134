import Scheduling

/// The times and the settings of a group that do not change, and how a round of the group uses its times.
struct GroupSettings {
    /// The least sending time in milliseconds of a stage that is planned a second time.
    private static let leastRest: Int64 = 3_000

    let schedule: CampaignSchedule
    let times: PlanGroup

    /// The end of the last time at which the group may send. A group that may never send ends when its window begins.
    var windowEnd: UTCTime { times.allowed.ranges.last?.upperBound ?? times.window.lowerBound }

    /// The rate of a schedule with a rate, in pushes a second.
    var rate: Double? {
        if case .rate(let rate) = schedule.spread { rate } else { nil }
    }

    // MARK: Stages

    /// Divides a count by stage, and each stage by cohort.
    func stages(of count: AudienceCount) -> [[Int]] {
        stride(from: 0, to: count.cells.count, by: schedule.cohorts).map { start in
            (start..<start + schedule.cohorts).map { count.cells[checked: $0] ?? 0 }
        }
    }

    /// When the next stage may begin; nil if it may begin now.
    ///
    /// - Parameters:
    ///   - time: when the present stage was sent.
    ///   - released: the number of stages after which an operator resumed the campaign.
    func gateOpens(after progress: GroupProgress, since time: UTCTime, released: Int) -> UTCTime? {
        switch schedule.stages[checked: progress.stage]?.gate {
        case .wait(let milliseconds):
            // A wait counts only time in which the campaign may send.
            let (allowed, position) = (times.allowed, times.allowed.position(of: time))
            return allowed.slice(position + milliseconds..<allowed.total).ranges.first?.lowerBound
                ?? windowEnd
        case .resume: return released > progress.stage ? nil : windowEnd
        case nil: return nil
        }
    }

    /// The waits after the present stage, in milliseconds.
    func waits(after progress: GroupProgress) -> Int64 {
        guard progress.round == 1, progress.sweeps == 0 else { return 0 }
        return schedule.stages.dropFirst(progress.stage).dropLast().reduce(0) { sum, stage in
            if case .wait(let milliseconds) = stage.gate { sum + milliseconds } else { sum }
        }
    }

    // MARK: Times

    /// Plans the present stage of a round, or what is left of the stage.
    ///
    /// - Parameters:
    ///   - left: the devices of the stage by cohort.
    ///   - later: the devices of later stages.
    ///   - chunks: the chunks with devices, in order.
    func section(
        _ left: [Int], _ later: [[Int]], _ chunks: [AudienceChunk], of progress: GroupProgress,
        at time: UTCTime, slots: StageSection.Slots
    ) -> StageSection {
        let rest = times.allowed.clipped(to: time..<max(time, windowEnd))
        guard rate == nil else { return StageSection(left: left, chunks: chunks, times: rest, slots: nil) }
        let now = left.reduce(0, +)
        let all = now + later.reduce(0) { $0 + $1.reduce(0, +) }
        let free = max(0, rest.total - waits(after: progress))
        var whole = free
        if progress.needed > 0 {
            // The round keeps its planned rate, so a pause makes it longer and not faster.
            whole = min(
                free, PlanShare.of(progress.needed, min(all, progress.counted), max(1, progress.counted)))
        }
        let share = PlanShare.of(whole, now, max(1, all))
        let least = slots == .equal ? 1 : Self.leastRest
        return StageSection(
            left: left, chunks: chunks, times: rest.slice(0..<max(share, min(least, rest.total))),
            slots: slots)
    }
}
