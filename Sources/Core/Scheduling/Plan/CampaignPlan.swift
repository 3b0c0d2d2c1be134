/// When a campaign will send which pushes, computed before anything is sent.
///
/// The plan assumes that no device finishes early: each round is as large as the audience. A row covers the time from
/// its first to its last push. Within this time, the row sends nothing in avoided minutes and quiet hours. With a rate, it also sends
/// nothing while rows of zones whose windows end earlier are sent.
package struct CampaignPlan: Hashable, Sendable {
    /// The pushes to the devices of one zone and cohort, in one round and stage.
    package struct Row: Hashable, Sendable {
        /// ``PlanGroup/zone``.
        package let zone: String?
        /// The round, 1 or more.
        package let round: Int
        /// The stage, 1 or more; nil without stages, and in later rounds.
        package let stage: Int?
        /// The cohort, 0 or more.
        package let cohort: Int
        package let start: UTCTime
        /// The time by which the row's last push is sent.
        package let end: UTCTime
        package let pushes: Int
    }

    /// The maximum number of rows of a plan.
    package static let mostRows = 50_000

    /// The rows in order of their start.
    package let rows: [Row]
    package let devices: Int
    /// The number of devices that have no zone, or a zone without rules. For these devices, the plan uses the default
    /// zone.
    package let withoutZone: Int
    /// The highest rate in pushes a second.
    package let peak: Double
    /// The number of rounds that fit, by zone; the key is empty without a window.
    package let rounds: [String: Int]
    /// The number of devices of each zone that get no push, because the whole window is quiet in the zone.
    package let quietZones: [String: Int]
    /// The number of devices of each zone that get their pushes in a later window, because the rest of the open window is quiet in
    /// the zone.
    package let delayedZones: [String: Int]

    /// Plans a campaign.
    ///
    /// - Parameters:
    ///   - defaultZone: the zone of devices without a zone, and of the start of a campaign without a window.
    ///   - zones: returns the rules of a zone; nil for a name that does not exist.
    ///   - rateLimit: the most pushes a second that the app may send, above 0; nil without a limit.
    package init(
        _ audience: PlanAudience, _ schedule: CampaignSchedule, defaultZone: String,
        zones: @escaping (String) -> TimeZoneRules?, now: UTCTime, rateLimit: Double? = nil
    ) throws(PlanRefusal) {
        let (groups, withoutZone) = try PlanGroups(schedule, zones: zones, now: now)
            .groups(of: audience, defaultZone: defaultZone)
        let perGroup =
            max(1, schedule.stages.count) * schedule.cohorts
            + ((schedule.repetition?.max ?? 1) - 1) * schedule.cohorts
        let most = groups.count.multiplied(saturating: perGroup)
        guard most <= Self.mostRows else { throw .tooManyRows(most) }
        var rate: Double?
        if case .rate(let wanted) = schedule.spread { rate = min(wanted, rateLimit ?? wanted) }
        var rows: [Row] = []
        var sections: [PlanSection] = []
        var rounds: [String: Int] = [:]
        var occupied = TimeRangeSet.empty
        for group in Self.inOrderOfEnd(groups) where !group.allowed.isEmpty {
            let free = rate == nil ? group.allowed : group.allowed.subtracting(occupied)
            let own = try RoundPlanner(group, schedule, free: free, rate: rate).sections()
            if rate != nil { occupied = TimeRangeSet(occupied.ranges + own.flatMap(\.times.ranges)) }
            for section in own { rows += Self.rows(section, group.zone, schedule.cohorts) }
            rounds[group.zone ?? ""] = own.last?.round
            sections += own
        }
        let peak = Self.peak(sections)
        // Rounding errors may raise the sum of the rates slightly above a limit that it should equal.
        if let rateLimit, peak > rateLimit * 1.000_001 { throw .aboveRateLimit(peak: peak, limit: rateLimit) }
        self.rows = rows.sorted {
            ($0.start, $0.zone ?? "", $0.round, $0.stage ?? 0, $0.cohort)
                < ($1.start, $1.zone ?? "", $1.round, $1.stage ?? 0, $1.cohort)
        }
        self.devices = audience.devices
        quietZones = Self.devices(of: groups.filter(\.allowed.isEmpty))
        delayedZones = Self.devices(of: groups.filter(\.skipsQuietWindow))
        (self.withoutZone, self.peak, self.rounds) = (withoutZone, peak, rounds)
    }

    /// The time of the first push; nil if the audience is empty.
    package var firstPush: UTCTime? { rows.first?.start }

    /// The time by which the last push is sent; nil if the audience is empty.
    package var lastPush: UTCTime? { rows.map(\.end).max() }

    private static func devices(of groups: [PlanGroup]) -> [String: Int] {
        Dictionary(groups.map { ($0.zone ?? "", $0.devices) }) { $0.adding(saturating: $1) }
    }

    /// In a campaign with a rate, windows that end earlier come first. Without stages, rounds and avoided minutes, the
    /// pushes fit in this order if they fit in any order.
    /// - Source: Liu and Layland, "Scheduling Algorithms for Multiprogramming in a Hard-Real-Time Environment" (1973), section 7.
    private static func inOrderOfEnd(_ groups: [PlanGroup]) -> [PlanGroup] {
        groups.sorted {
            ($0.window.upperBound, $0.window.lowerBound, $0.zone ?? "")
                < ($1.window.upperBound, $1.window.lowerBound, $1.zone ?? "")
        }
    }

    /// Divides a section among the cohorts, one after the other.
    private static func rows(_ section: PlanSection, _ zone: String?, _ cohorts: Int) -> [Row] {
        (0..<cohorts).compactMap { cohort in
            let from = Int(PlanShare.of(Int64(section.pushes), cohort, cohorts))
            let to = Int(PlanShare.of(Int64(section.pushes), cohort + 1, cohorts))
            guard from < to else { return nil }
            let total = section.times.total
            let (first, last) = (
                PlanShare.of(total, from, section.pushes), PlanShare.of(total, to, section.pushes)
            )
            // A section may have more pushes than milliseconds. A row must still have at least one millisecond.
            let start = min(first, max(0, total - 1))
            let ranges = section.times.slice(start..<max(start + 1, last)).ranges
            guard let start = ranges.first?.lowerBound, let end = ranges.last?.upperBound else { return nil }
            return Row(
                zone: zone, round: section.round, stage: section.stage, cohort: cohort, start: start,
                end: end, pushes: to - from)
        }
    }

    /// The highest sum of the rates of sections that are sent at the same time.
    private static func peak(_ sections: [PlanSection]) -> Double {
        var changes: [(time: UTCTime, rate: Double)] = []
        for section in sections where section.pushes > 0 {
            for range in section.times.ranges {
                changes.append((range.lowerBound, section.rate))
                changes.append((range.upperBound, -section.rate))
            }
        }
        // At equal times, subtract the rates that end before adding the rates that begin.
        changes.sort { ($0.time, $0.rate) < ($1.time, $1.rate) }
        var (sum, peak) = (0.0, 0.0)
        for change in changes {
            sum += change.rate
            peak = max(peak, sum)
        }
        return peak
    }
}
