/// A part of a round that is sent at one rate, without a wait: a stage, or the whole round.
struct PlanSection {
    let round: Int
    let stage: Int?
    let pushes: Int
    let times: TimeRangeSet
    /// The rate of the whole round in pushes a second. A round shorter than a second counts as a second.
    let rate: Double
}

/// Places the rounds of one group in the times that the group may use.
package struct RoundPlanner {
    private let group: PlanGroup
    private let schedule: CampaignSchedule
    /// The group's times that no other group uses.
    private let free: TimeRangeSet
    /// Pushes a second, for a schedule with a rate.
    private let rate: Double?

    init(_ group: PlanGroup, _ schedule: CampaignSchedule, free: TimeRangeSet, rate: Double?) {
        (self.group, self.schedule, self.free, self.rate) = (group, schedule, free, rate)
    }

    /// - Parameter rate: pushes a second, for a schedule with a rate.
    package init(_ group: PlanGroup, _ schedule: CampaignSchedule, rate: Double?) {
        self.init(group, schedule, free: group.allowed, rate: rate)
    }

    /// The number of rounds that fit in the window; 1 if not even the first round fits.
    package var rounds: Int { (try? sections())?.last?.round ?? 1 }

    /// Returns the sections in order of time. There are as many rounds as fit in the window, and at least one.
    func sections() throws(PlanRefusal) -> [PlanSection] {
        guard let begin = free.ranges.first?.lowerBound else {
            throw .doesNotFit(shortage(needed: neededByRate ?? 0))
        }
        let needed = try firstRoundTime(from: begin)
        guard needed > 0, needed <= free.total - waits else { throw .doesNotFit(shortage(needed: needed)) }
        var sections = firstRound(needed: needed)
        guard let repetition = schedule.repetition, let last = sections.last?.times.ranges,
            var start = last.first?.lowerBound, var end = last.last?.upperBound
        else { return sections }
        let length = nominalLength(from: begin, needed: needed)
        guard length <= repetition.every else {
            throw .roundTooLong(
                pushes: group.devices, rate: rate ?? 0, needed: length, every: repetition.every)
        }
        // A later round sends in the same order as the last stage, and not faster. So if each round starts at least
        // `every` after the start of the last stage or of the previous round, two pushes to a device are at least
        // `every` apart. But avoided minutes and other zones' rows interrupt each round in different places, and may
        // shorten the time between two pushes to a device.
        for round in stride(from: 2, through: repetition.max, by: 1) {
            start = group.opening(at: max(start.adding(milliseconds: repetition.every), end))
            guard let times = laterRound(from: start, length: length, needed: needed) else { break }
            sections.append(
                PlanSection(
                    round: round, stage: nil, pushes: group.devices, times: times,
                    rate: roundRate(times.total)))
            end = times.ranges.last?.upperBound ?? start
        }
        return sections
    }

    // MARK: Time

    private var waits: Int64 {
        schedule.stages.dropLast().reduce(0) { sum, stage in
            if case .wait(let milliseconds) = stage.gate { sum + milliseconds } else { sum }
        }
    }

    /// The milliseconds that a round needs at the rate, limited to 2^48; nil for pushes that are spread evenly.
    private var neededByRate: Int64? {
        rate.map { rate in
            let exact = (Double(group.devices) * 1000 / rate).rounded(.up)
            return max(1, Int64(foreign: Int64(clamping: exact)))
        }
    }

    /// Returns the milliseconds of sending in the first round, without waits and avoided minutes.
    private func firstRoundTime(from begin: UTCTime) throws(PlanRefusal) -> Int64 {
        if case .rate = schedule.spread { return neededByRate ?? 0 }
        guard let length = schedule.roundLength else { return free.total - waits }
        let end = group.end(of: length, from: begin)
        // An even spread can use whatever is left of the window. A fixed duration must fit into the window.
        if end > group.window.upperBound, case .over = schedule.spread {
            throw .doesNotFit(shortage(needed: length))
        }
        return free.clipped(to: begin..<min(end, group.window.upperBound)).total
    }

    /// Returns the milliseconds from the start to the end of a round without waits.
    private func nominalLength(from begin: UTCTime, needed: Int64) -> Int64 {
        switch schedule.spread {
        case .rate:
            let end = free.slice(0..<needed).ranges.last?.upperBound ?? begin
            return end.milliseconds - begin.milliseconds
        case .evenly:
            return min(
                schedule.repetition?.every ?? .max, group.window.upperBound.milliseconds - begin.milliseconds)
        case .over(let milliseconds): return milliseconds
        }
    }

    private func shortage(needed: Int64) -> PlanRefusal.Shortage {
        PlanRefusal.Shortage(
            pushes: group.devices, rate: rate, needed: max(0, needed), waits: waits,
            inWindow: group.allowed.total, available: free.total, window: group.name)
    }

    // MARK: Sections

    private func roundRate(_ milliseconds: Int64) -> Double {
        Double(group.devices) * 1000 / Double(max(1000, milliseconds))
    }

    /// Returns a section for each stage, with the waits between them. A wait is measured in times at which the campaign
    /// may send, so it never ends too early.
    private func firstRound(needed: Int64) -> [PlanSection] {
        guard !schedule.stages.isEmpty else {
            let times = free.slice(0..<needed)
            return [
                PlanSection(
                    round: 1, stage: nil, pushes: group.devices, times: times, rate: roundRate(needed))
            ]
        }
        var sections: [PlanSection] = []
        var (released, position, waited) = (0, Int64(0), Int64(0))
        for (index, stage) in schedule.stages.enumerated() {
            let isLast = index == schedule.stages.count - 1
            let share = Int(clamping: (Double(group.devices) * stage.share).rounded())
            let until = isLast ? group.devices : min(share, group.devices)
            let end = isLast ? needed : PlanShare.of(needed, until, group.devices)
            // A stage may need less than a millisecond. Its section still gets one millisecond.
            let start = min(position, needed - 1)
            sections.append(
                PlanSection(
                    round: 1, stage: index + 1, pushes: until - released,
                    times: free.slice(start + waited..<max(start + 1, end) + waited), rate: roundRate(needed))
            )
            (released, position) = (until, end)
            if case .wait(let milliseconds) = stage.gate { waited += milliseconds }
        }
        return sections
    }

    private func laterRound(from start: UTCTime, length: Int64, needed: Int64) -> TimeRangeSet? {
        guard start < group.window.upperBound else { return nil }
        let rest = free.clipped(to: start..<group.window.upperBound)
        if case .rate = schedule.spread {
            let times = rest.slice(0..<needed)
            return times.total == needed ? times : nil
        }
        let end = group.end(of: length, from: start)
        guard end <= group.window.upperBound else { return nil }
        let times = rest.clipped(to: start..<end)
        return times.isEmpty ? nil : times
    }
}

/// Divides a whole number in proportion to a part of a total.
package enum PlanShare {
    /// Returns `whole` × `part` / `of`, rounded down; `whole` if `part` is not less than `of`, and 0 if `of` is 0.
    package static func of(_ whole: Int64, _ part: Int, _ of: Int) -> Int64 {
        guard of > 0, part > 0 else { return 0 }
        let product = whole.multipliedFullWidth(by: Int64(part))
        // The quotient fits into an Int64, because `part` is less than `of`.
        return part >= of ? whole : Int64(of).dividingFullWidth(product).quotient
    }
}
