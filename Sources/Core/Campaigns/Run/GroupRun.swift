import Scheduling

/// The run of one group: its rounds, stages and cohorts, in its window.
struct GroupRun {
    /// What a group needs now.
    enum Need {
        case count
        /// At most this number of devices of the cursor's cohort and chunk, before the ordinal `end` of the chunk.
        case send(most: Int, cursor: SendCursor, end: Int)
        case wait(until: UTCTime)
        case nothing
    }

    /// The number of times that the last round searches for devices that joined the group behind the cursor.
    private static let mostSweeps = 2
    private let settings: GroupSettings
    private(set) var progress: GroupProgress
    /// The counts of this group that no step has stored yet.
    private(set) var unstored = CampaignCounts()
    /// Whether something other than counts must be stored.
    private(set) var mustStore = false
    private var section: StageSection?
    /// The devices of later stages, by stage and cohort. Empty for later rounds.
    private var laterStages: [[Int]] = []
    /// The time until which the next device of the group has had its last push too recently; nil if no step has found such a device.
    private var heldUntil: UTCTime?

    init(_ settings: GroupSettings, _ progress: GroupProgress) {
        (self.settings, self.progress) = (settings, progress)
    }

    var isLastRound: Bool { progress.isLastRound }
    private var windowEnd: UTCTime { settings.windowEnd }
    /// The devices that are left in the present stage; 0 if they must be counted first.
    var left: Int { section?.total ?? 0 }

    /// What is left of the present round; nil while the group does not send.
    ///
    /// - Parameter index: the index of the group.
    func remainingPart(ofGroup index: Int) -> RemainingWork.Part? {
        guard progress.phase == .sending else { return nil }
        return RemainingWork.Part(
            section: .init(
                group: index, round: progress.round, stage: progress.stage, sweeps: progress.sweeps),
            left: max(0, progress.counted - progress.handled), handled: progress.handled,
            allowed: settings.times.allowed, waits: settings.waits(after: progress))
    }

    /// Estimates the milliseconds until the group has sent all its stages and rounds; nil for a finished group.
    func remaining(at now: UTCTime, released: Int, ceiling: Double) -> Int64? {
        settings.remaining(of: progress, at: now, released: released, ceiling: ceiling)
    }

    /// Notes that a step stored the progress and the counts.
    mutating func markStored() { (unstored, mustStore) = (CampaignCounts(), false) }

    /// Discards the plan of the rest of the round. The next plan uses new counts.
    mutating func replan() { section = nil }

    // MARK: Time

    /// Ends what is over, and returns what the group needs.
    ///
    /// - Parameters:
    ///   - released: the number of stages after which an operator resumed the campaign.
    ///   - ceiling: the highest rate in pushes a second.
    mutating func need(
        at time: UTCTime, _ instant: Pace.Instant, released: Int, ceiling: Double
    ) -> Need {
        switch progress.phase {
        case .finished: return .nothing
        case .waiting(let from):
            if time < from, from < windowEnd { return .wait(until: from) }
            guard progress.round > 1, max(time, from) >= windowEnd else { return .count }
            finish()
            return .nothing
        case .gated(let since):
            guard time < windowEnd else {
                endRound(at: time)
                return .nothing
            }
            let opens = settings.gateOpens(after: progress, since: since, released: released)
            return opens.map { time < $0 ? .wait(until: $0) : .count } ?? .count
        case .sending: return sendingNeed(at: time, instant, released: released, ceiling: ceiling)
        }
    }

    private mutating func sendingNeed(
        at time: UTCTime, _ instant: Pace.Instant, released: Int, ceiling: Double
    ) -> Need {
        guard time < windowEnd else {
            endRound(at: time)
            return .nothing
        }
        if let heldUntil {
            guard heldUntil <= time else { return .wait(until: min(windowEnd, heldUntil)) }
            self.heldUntil = nil
        }
        guard var section else { return .count }
        guard let cursor = section.nextPosition(from: progress.cursor) else {
            endStage(at: time)
            return need(at: time, instant, released: released, ceiling: ceiling)
        }
        progress.cursor = cursor
        guard time < section.end else { return .count }
        if let start = section.start(ofCohort: cursor.cohort), time < start { return .wait(until: start) }
        var end = 65_536
        if progress.round > 1, let every = settings.schedule.repetition?.every,
            let limit = progress.earlierMarks.reached(by: time.adding(milliseconds: -every))
        {
            guard cursor < limit else {
                let next = progress.earlierMarks.time(after: cursor)?.adding(milliseconds: every)
                return .wait(until: min(windowEnd, next ?? windowEnd))
            }
            if limit.cohort == cursor.cohort, limit.chunk == cursor.chunk { end = limit.ordinal }
        }
        let (count, next) = section.available(fromCohort: cursor.cohort, at: time, instant, ceiling: ceiling)
        self.section = section
        guard count > 0 else { return .wait(until: min(windowEnd, next ?? windowEnd)) }
        guard settings.times.allowed.range(at: time) != nil else {
            return .wait(until: settings.times.allowed.range(after: time)?.lowerBound ?? windowEnd)
        }
        return .send(most: count, cursor: cursor, end: end)
    }

    // MARK: Counts and steps

    /// Takes the counts that the group needed, and plans the round or the stage.
    mutating func counted(_ count: AudienceCount, at time: UTCTime) {
        let chunks = count.chunks.sorted()
        switch progress.phase {
        case .finished: return
        case .waiting:
            beginRound(count.total, at: time)
            guard count.total > 0 else {
                guard progress.counted > 0 else { return finish() }
                (progress.began, progress.plannedEnd) = (time, time)
                return endRound(at: time, isComplete: true)
            }
            guard time < windowEnd else { return endRound(at: time) }
            beginStage(count, chunks, at: time)
        case .gated:
            progress.stage += 1
            progress.cursor = .start
            beginStage(count, chunks, at: time)
        case .sending:
            guard count.total > 0 else { return endRound(at: time, isComplete: true) }
            plan(count, chunks, at: time, slots: .proportional)
        }
    }

    /// Takes the result of a step.
    mutating func sent(_ sent: CampaignSent, cursor: SendCursor, at time: UTCTime) {
        let round = progress.round
        unstored[.accepted, round] += sent.accepted
        unstored[.capped, round] += sent.capped
        unstored[.excluded, round] += sent.excluded
        unstored[.unsendable, round] += sent.unsendable
        progress.handled = progress.handled.adding(saturating: sent.handled)
        section?.handle(sent.handled, ofCohort: cursor.cohort)
        section?.take(sent.accepted)
        var place = SendCursor(cohort: cursor.cohort, chunk: cursor.chunk, ordinal: sent.next)
        if settings.schedule.repetition != nil { progress.marks.add(place, at: time) }
        if sent.isExhausted {
            if let next = section?.chunk(after: cursor.chunk) {
                place = SendCursor(cohort: cursor.cohort, chunk: next, ordinal: 0)
            } else {
                section?.exhaust(cohort: cursor.cohort)
                place = SendCursor(cohort: cursor.cohort + 1, chunk: SendCursor.start.chunk, ordinal: 0)
            }
        }
        progress.cursor = place
        if let section, section.nextPosition(from: place) == nil { endStage(at: time) }
    }

    // MARK: Merged pushes

    /// Whether the group may send at a time.
    func isAllowed(at time: UTCTime) -> Bool { settings.times.allowed.range(at: time) != nil }

    /// Sends nothing until a time, because the next device has had a push of the merge group too recently.
    mutating func hold(until time: UTCTime) { heldUntil = time }

    /// Notes that devices got the content of the present round, or of the next round, in a push of another campaign.
    ///
    /// - Parameter cohorts: the number of these devices in each cohort.
    mutating func merged(cohorts: [Int: Int]) {
        let devices = cohorts.values.reduce(0, +)
        unstored[.merged, progress.round] += devices
        if case .waiting = progress.phase {
            unstored[.audience, progress.round] += devices
            progress.ahead = progress.ahead.adding(saturating: devices)
            return
        }
        progress.handled = progress.handled.adding(saturating: devices)
        for (cohort, count) in cohorts where count > 0 { section?.handle(count, ofCohort: cohort) }
    }

    // MARK: Rounds

    private mutating func beginRound(_ devices: Int, at time: UTCTime) {
        progress.phase = .sending
        (progress.counted, progress.handled) = (devices + progress.ahead, progress.ahead)
        (progress.stage, progress.sweeps, progress.ahead) = (0, 0, 0)
        (progress.cursor, progress.marks) = (.start, SendMarks())
        unstored[.audience, progress.round] += devices
        let rest = settings.times.rest(from: time, devices: max(1, devices))
        if progress.round == 1 {
            progress.rounds = RoundPlanner(rest, settings.schedule, rate: settings.rate).rounds
        }
        progress.needed = 0
        if let length = settings.schedule.roundLength {
            progress.needed =
                rest.allowed.clipped(to: time..<max(time, rest.end(of: length, from: time))).total
        }
    }

    private mutating func beginStage(_ count: AudienceCount, _ chunks: [AudienceChunk], at time: UTCTime) {
        progress.phase = .sending
        (progress.began, progress.marks) = (time, SendMarks())
        plan(count, chunks, at: time, slots: .equal)
        progress.plannedEnd = section?.end ?? time
        mustStore = true
    }

    /// Divides the counts by stage, and plans the present stage.
    private mutating func plan(
        _ count: AudienceCount, _ chunks: [AudienceChunk], at time: UTCTime, slots: StageSection.Slots
    ) {
        let stages = settings.stages(of: count)
        laterStages = Array(stages.dropFirst(progress.stage + 1))
        let left = stages[checked: progress.stage] ?? Array(repeating: 0, count: settings.schedule.cohorts)
        section = settings.section(left, laterStages, chunks, of: progress, at: time, slots: slots)
    }

    private mutating func endStage(at time: UTCTime) {
        mustStore = true
        if let next = laterStages.first {
            guard progress.sweeps > 0 else {
                (progress.phase, section) = (.gated(since: time), nil)
                return
            }
            progress.stage += 1
            progress.cursor = .start
            laterStages.removeFirst()
            section = settings.section(
                next, laterStages, section?.chunks ?? [], of: progress, at: time, slots: .proportional)
            if section?.nextPosition(from: .start) == nil { endStage(at: time) }
            return
        }
        endRound(at: time)
    }

    /// Ends the round, or lets the last round search for devices that joined the group behind its cursor.
    ///
    /// - Parameter isComplete: whether a count found that no device is left.
    private mutating func endRound(at time: UTCTime, isComplete: Bool = false) {
        (mustStore, section, laterStages) = (true, nil, [])
        if isLastRound, !isComplete, time < windowEnd, progress.sweeps < Self.mostSweeps {
            progress.sweeps += 1
            (progress.phase, progress.stage, progress.cursor) = (.sending, 0, .start)
            return
        }
        let missing = progress.counted - progress.handled
        unstored[missing > 0 ? .excluded : .audience, progress.round] += abs(missing)
        unstored[.unhandled, progress.round] += max(0, missing)
        progress.handled = max(progress.counted, progress.handled)
        progress.counted = progress.handled
        guard !isLastRound, let every = settings.schedule.repetition?.every else { return finish() }
        // A round that ended late delays the next round by the same time, so that its devices wait long enough.
        let delay = progress.needed > 0 ? max(0, time.milliseconds - progress.plannedEnd.milliseconds) : 0
        let start = settings.times.opening(
            at: max(time, progress.began.adding(milliseconds: every + delay)))
        // Half of the round's time must be left. In less time, the rate would have to be far above the planned rate.
        let least = (settings.schedule.roundLength ?? 0) / 2
        guard start.adding(milliseconds: least) < windowEnd else { return finish() }
        progress.round += 1
        (progress.phase, progress.stage, progress.sweeps) = (.waiting(from: start), 0, 0)
        (progress.cursor, progress.earlierMarks, progress.marks) = (.start, progress.marks, SendMarks())
    }

    private mutating func finish() {
        (mustStore, section, laterStages) = (true, nil, [])
        progress.phase = .finished
    }
}
