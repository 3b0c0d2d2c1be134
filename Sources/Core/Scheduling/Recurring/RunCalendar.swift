import PushModel

/// One run of a recurring campaign.
package struct RecurringRun: Hashable, Sendable {
    /// The campaign's id with the local date and time at which the run is due: `daily.2026-11-26T0530`.
    package let id: String
    package let due: UTCTime
    /// The time at which the run can no longer start.
    package let closes: UTCTime
}

/// Why runs that were due did not start, as the text of an event.
package enum RunNotice: Hashable, Sendable, CustomStringConvertible {
    /// The due run did not start, because the campaign's run with the id `running` was still running.
    case skipped(RecurringRun, running: String)
    /// Runs that no process started in time: their windows closed, or a later run was due. `last` is the last of these
    /// runs. `count` is at most ``RunCalendar/mostCounted``.
    case missed(count: Int, last: RecurringRun)

    package var description: String {
        switch self {
        case .skipped(let run, let running):
            "the run \(run.id) is skipped, because \(running) is still running"
        case .missed(1, let last): "the run \(last.id) was missed"
        case .missed(let count, let last):
            "\(count == RunCalendar.mostCounted ? "at least " : "")\(PlanText.number(count)) runs up to \(last.id) were missed"
        }
    }
}

/// Decides when the runs of a recurring campaign start.
///
/// Each local time of the expression is due once, as ``CronExpression/next(after:in:)`` says, also when clocks change.
/// A run that no process started at its due time starts later, while its window is open. If several runs are due, only
/// the last of them starts. A run that is due while another run of the campaign is running is skipped.
package struct RunCalendar: Hashable, Sendable {
    /// The greatest number of missed runs that is counted.
    package static let mostCounted = 1000
    /// The greatest length of a recurring campaign's id in characters, because a job's id has at most 64.
    package static let longestID = 64 - ".2026-11-26T0530".count

    /// What to do now.
    package struct Decision: Hashable, Sendable {
        package let start: RecurringRun?
        package let notices: [RunNotice]
        /// All runs that were due until this time are handled. The caller stores the time for the next decision.
        package let handledUntil: UTCTime
        /// When the next run is due; nil only for a zone whose clocks change in a way that no real zone does.
        package let wakeAt: UTCTime?
    }

    private let campaign: String
    private let cron: CronExpression
    private let zone: TimeZoneRules
    private let window: Int64

    /// - Parameters:
    ///   - campaign: the id of the campaign, at most ``longestID`` characters.
    ///   - window: for how many milliseconds a due run can start, from 1 minute to 31 days.
    package init(
        campaign: String, cron: CronExpression, zone: TimeZoneRules, window: Int64
    ) throws(ScheduleError) {
        guard campaign.unicodeScalars.count <= Self.longestID else {
            throw ScheduleError(
                field: .cron,
                reason: "the id of a recurring campaign has at most \(Self.longestID) characters")
        }
        guard (60_000...CampaignSchedule.longest).contains(window) else {
            throw ScheduleError(field: .cron, reason: "a window from 1 minute to 31 days is needed")
        }
        (self.campaign, self.cron, self.zone, self.window) = (campaign, cron, zone, window)
    }

    /// Decides which run starts now, and which runs never start.
    /// - Parameters:
    ///   - handledUntil: ``Decision/handledUntil`` of the last decision; before the first decision, the time at which the
    ///     campaign was created.
    ///   - running: the id of the run that has not finished; nil if there is none.
    package func decision(handledUntil: UTCTime, running: String?, now: UTCTime) -> Decision {
        let wakeAt = cron.next(after: max(handledUntil, now), in: zone)
        guard let last = lastDue(after: handledUntil, upTo: now) else {
            return Decision(start: nil, notices: [], handledUntil: handledUntil, wakeAt: wakeAt)
        }
        var notices: [RunNotice] = []
        let run = run(due: last)
        let isOpen = now < run.closes
        if let missed = missed(after: handledUntil, upTo: isOpen ? last.adding(milliseconds: -1) : last) {
            notices.append(missed)
        }
        if isOpen, let running { notices.append(.skipped(run, running: running)) }
        return Decision(
            start: isOpen && running == nil ? run : nil, notices: notices, handledUntil: last, wakeAt: wakeAt)
    }

    /// Returns the last time at which a run is due, later than `after` and not later than `now`. Searches at most about
    /// 40 times for the next due time.
    private func lastDue(after: UTCTime, upTo now: UTCTime) -> UTCTime? {
        func due(after milliseconds: Int64) -> UTCTime? {
            guard let next = cron.next(after: UTCTime(milliseconds: milliseconds), in: zone), next <= now
            else {
                return nil
            }
            return next
        }
        guard var last = due(after: after.milliseconds) else { return nil }
        // Usually only one run is due.
        guard let second = due(after: last.milliseconds) else { return last }
        last = second
        // A run is due after `low`, or at `low` itself. No run is due after `high`.
        var (low, high) = (last.milliseconds, now.milliseconds)
        while low < high {
            let middle = low + (high - low) / 2
            if let next = due(after: middle) {
                (last, low) = (next, next.milliseconds)
            } else {
                high = middle
            }
        }
        return last
    }

    private func missed(after: UTCTime, upTo end: UTCTime) -> RunNotice? {
        guard let last = lastDue(after: after, upTo: end) else { return nil }
        var (count, time) = (1, after)
        while count < Self.mostCounted, let next = cron.next(after: time, in: zone), next < last {
            (count, time) = (count + 1, next)
        }
        return .missed(count: count, last: run(due: last))
    }

    private func run(due: UTCTime) -> RecurringRun {
        let text = zone.localTime(at: due).description.replacing(" ", with: "T").replacing(":", with: "")
        return RecurringRun(
            id: "\(campaign).\(text)", due: due, closes: due.adding(milliseconds: window))
    }
}
