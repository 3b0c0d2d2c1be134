package import Scheduling

/// The run of one started campaign, without clocks, network and devices: it decides what the campaign does next.
///
/// The runner calls ``next(at:_:released:)`` and does what it returns. A step is stored with the run that it leads to: the runner
/// copies the run, reports the step to the copy with ``sent(_:_:at:)``, and stores ``progress`` and ``unstored`` of the copy
/// together with the step's pushes and bits. If the step is stored, the copy replaces the run, after ``markStored()``. Otherwise
/// the runner drops the copy. So a lost step has no effect.
///
/// A new process creates the run again from the stored progress. The first action is then a count.
package struct CampaignStateMachine: Sendable {
    /// The maximum number of devices of a step.
    package static let mostDevices = 16_000

    /// The groups of devices that share a window, in the order of ``CampaignProgress/groups``.
    package let groups: [CampaignGroup]
    private let campaign: Campaign
    private let salt: String
    private var runs: [GroupRun]
    /// The groups in the order in which they are asked: with a rate, windows that end earlier come first.
    private var order: [Int]
    /// The highest rate in pushes a second, of all groups together.
    private var ceiling: Double
    private let rateLimit: Double?
    private var pace: Pace

    /// Starts a campaign, or takes over a campaign that another process started.
    ///
    /// - Parameters:
    ///   - id: the campaign's id.
    ///   - start: when the campaign was started, or when its scheduled start was due; the same for each process.
    ///   - names: the zones that devices of the audience have. They matter only without a progress.
    ///   - zones: returns the rules of a zone; nil for a name that does not exist.
    ///   - progress: what the last step stored; nil before the first step.
    ///   - rate: the pushes a second that an operator set, above 0; nil: the definition decides.
    ///   - rateLimit: the most pushes a second that the app may send, above 0; nil without a limit.
    /// - Throws: ``PlanRefusal`` if the campaign has no time to send.
    package init(
        _ campaign: Campaign, id: String, start: UTCTime, names: some Sequence<String>,
        zones: @escaping (String) -> TimeZoneRules?, progress: CampaignProgress? = nil, rate: Double? = nil,
        rateLimit: Double? = nil
    ) throws(PlanRefusal) {
        let names = progress.map { $0.groups.compactMap(\.zone) } ?? Array(names)
        groups = try CampaignGroup.groups(of: campaign, names: names, zones: zones, start: start)
        (self.campaign, self.rateLimit, salt) = (campaign, rateLimit, campaign.salt(id: id))
        runs = groups.map { group in
            let stored = progress?.groups.first { $0.zone == group.times.zone }
            let begin = GroupProgress.Phase.waiting(
                from: group.times.allowed.ranges.first?.lowerBound ?? group.times.window.lowerBound)
            return GroupRun(
                GroupSettings(schedule: campaign.schedule, times: group.times),
                stored ?? GroupProgress(zone: group.times.zone, phase: begin))
        }
        let ends = groups.map(\.times.window.upperBound)
        order = groups.indices.sorted { (ends[$0], $0) < (ends[$1], $1) }
        ceiling = Self.ceiling(campaign.schedule, rate, rateLimit)
        pace = Pace(TimeRangeSet(groups.flatMap(\.times.allowed.ranges)), isEven: false, ceiling: ceiling)
    }

    private static func ceiling(_ schedule: CampaignSchedule, _ rate: Double?, _ limit: Double?) -> Double {
        var own = CampaignSchedule.greatestRate
        if case .rate(let rate) = schedule.spread { own = rate }
        let wanted = min(rate ?? own, limit ?? .infinity, CampaignSchedule.greatestRate)
        return wanted > 0 ? wanted : own
    }

    // MARK: State

    /// What the run has done, as the next step stores it.
    package var progress: CampaignProgress { CampaignProgress(groups: runs.map(\.progress)) }

    /// The counts that no step has stored yet. The next step adds them to the record.
    package var unstored: CampaignCounts {
        runs.reduce(into: CampaignCounts()) { $0.add($1.unstored) }
    }

    /// The pushes that the present rounds still have to send.
    package var remainingWork: RemainingWork {
        RemainingWork(
            parts: runs.indices.compactMap { runs[$0].remainingPart(ofGroup: $0) }, ceiling: ceiling,
            isBetweenStages: runs.contains { if case .gated = $0.progress.phase { true } else { false } })
    }

    /// Estimates the milliseconds until all groups have sent all their stages and rounds; nil if all groups are finished.
    ///
    /// The estimate assumes that no device becomes done, and that an operator resumes at once after a stage.
    /// - Parameter released: the number of stages after which an operator resumed the campaign.
    package func remaining(at now: UTCTime, released: Int) -> Int64? {
        runs.compactMap { $0.remaining(at: now, released: released, ceiling: ceiling) }.max()
    }

    /// Notes that a step stored ``progress`` and ``unstored``.
    package mutating func markStored() {
        for index in runs.indices { runs[index].markStored() }
    }

    /// The cells of a round.
    package func cells(ofRound round: Int) -> AudienceCells {
        AudienceCells(campaign.schedule, salt: salt, round: round)
    }

    // MARK: Commands

    /// Changes the rate that an operator set, in pushes a second above 0; nil: the definition decides.
    package mutating func change(rate: Double?) {
        ceiling = Self.ceiling(campaign.schedule, rate, rateLimit)
        pace.change(ceiling: ceiling)
        replan()
    }

    /// Discards the plan of the rest of all rounds, after a pause or an outage. The next action counts the audience for a new
    /// plan.
    package mutating func replan() {
        for index in runs.indices { runs[index].replan() }
    }

    // MARK: Actions

    /// Returns what to do now.
    ///
    /// - Parameters:
    ///   - time: the time of the wall clock.
    ///   - instant: the time of the monotonic clock, which earns the pace's credit.
    ///   - released: the number of stages after which an operator resumed the campaign.
    package mutating func next(at time: UTCTime, _ instant: Pace.Instant, released: Int = 0) -> CampaignAction
    {
        var counts: [AudienceCountRequest] = []
        var wanted: [(group: Int, most: Int, cursor: SendCursor, end: Int)] = []
        var wake: UTCTime?
        for index in order {
            switch runs[index].need(at: time, instant, released: released, ceiling: ceiling) {
            case .count: counts.append(AudienceCountRequest(group: index, round: runs[index].progress.round))
            case .send(let most, let cursor, let end): wanted.append((index, most, cursor, end))
            case .wait(let until): wake = min(wake ?? until, until)
            case .nothing: break
            }
        }
        guard counts.isEmpty else { return .count(counts) }
        let total = wanted.reduce(0) { $0.adding(saturating: $1.most) }
        let permitted = pace.available(left: min(total, Self.mostDevices), at: time, instant)
        if permitted > 0, let next = wanted.first {
            if !campaign.schedule.hasRate { giveTurn(after: next.group) }
            return .send(send(next.group, next.cursor, next.end, most: min(next.most, permitted)))
        }
        if !wanted.isEmpty, let next = pace.nextCall(after: time) { wake = min(wake ?? next, next) }
        if runs.contains(where: { $0.mustStore }) {
            return runs.allSatisfy(\.progress.isFinished) ? .finished : .store
        }
        guard let wake else { return .finished }
        return .wait(until: wake)
    }

    private func send(_ index: Int, _ cursor: SendCursor, _ end: Int, most: Int) -> CampaignSend {
        let (progress, times) = (runs[index].progress, groups[index].times)
        return CampaignSend(
            group: index, round: progress.round,
            cell: AudienceCells.Cell(stage: progress.stage, cohort: cursor.cohort), chunk: cursor.chunk,
            ordinals: cursor.ordinal..<max(cursor.ordinal, end), most: min(most, Self.mostDevices),
            isFallback: campaign.content.fallback != nil && runs[index].isLastRound,
            expiry: campaign.schedule.window == nil ? nil : times.window.upperBound)
    }

    /// Moves a group to the end of the order, so that groups with even paces take turns.
    private mutating func giveTurn(after group: Int) {
        guard let position = order.firstIndex(of: group) else { return }
        order.append(order.remove(at: position))
    }

    // MARK: Reports

    /// Takes the count of a group, which ``CampaignAction/count(_:)`` asked for.
    package mutating func counted(_ count: AudienceCount, of group: Int, at time: UTCTime) {
        runs[group].counted(count, at: time)
    }

    /// Takes the result of a step. Devices that were chosen are accepted, capped, excluded or unsendable.
    package mutating func sent(_ send: CampaignSend, _ sent: CampaignSent, at time: UTCTime) {
        pace.take(sent.accepted)
        runs[send.group].sent(
            sent,
            cursor: SendCursor(
                cohort: send.cell.cohort, chunk: send.chunk, ordinal: send.ordinals.lowerBound),
            at: time)
    }
}

// MARK: Merged pushes

extension CampaignStateMachine {
    /// The devices that get the campaign's content when another campaign of its merge group sends them a push.
    package struct Due: Hashable, Sendable {
        /// The index of the group in ``CampaignStateMachine/groups``.
        package let group: Int
        package let round: Int
        /// The stage of the devices in ``CampaignStateMachine/cells(ofRound:)``.
        package let stage: Int
        /// When the window of the group ends; nil without a window.
        package let expiry: UTCTime?
    }

    /// - Parameter gap: the least time between two pushes of the merge group, in milliseconds.
    package func due(at time: UTCTime, gap: Int64) -> [Due] {
        runs.indices.compactMap { index in
            // The fallback is a visible push, which is not merged.
            guard campaign.content.fallback == nil || !runs[index].isLastRound,
                let due = runs[index].dueRound(at: time, gap: gap)
            else { return nil }
            let times = groups[index].times
            return Due(
                group: index, round: due.round, stage: due.stage,
                expiry: campaign.schedule.window == nil ? nil : times.window.upperBound)
        }
    }

    /// Notes that devices got the campaign's content in a push of another campaign.
    ///
    /// - Parameter cohorts: the number of these devices in each cohort.
    package mutating func merged(_ due: Due, cohorts: [Int: Int]) { runs[due.group].merged(cohorts: cohorts) }

    /// Lets a group of devices wait, because its next device has had a push of the merge group too recently.
    package mutating func hold(_ group: Int, until time: UTCTime) { runs[group].hold(until: time) }
}

extension CampaignSchedule {
    /// Whether the campaign sends at a rate, and does not spread its pushes.
    var hasRate: Bool {
        if case .rate = spread { true } else { false }
    }
}
