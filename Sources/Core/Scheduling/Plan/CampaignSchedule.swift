package import PushModel

/// Why a schedule is invalid, and in which field.
package struct ScheduleError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The field of the campaign, as producers write the field.
    package enum Field: String, Sendable {
        case window, spread, rate, avoid, stages, `repeat`, cohorts
        case caps, category, quiet, cron, merge
        case stopAt = "stop_at"
    }

    package let field: Field
    package let reason: String

    package var description: String { "\(field.rawValue): \(reason)" }
}

/// When and how fast a campaign sends: start, window, spread, avoided minutes, stages, rounds and cohorts as one plan.
package struct CampaignSchedule: Hashable, Sendable {
    /// When a campaign begins.
    package enum Start: Hashable, Sendable {
        case now
        /// At a time or later. A time in the past means now.
        case at(UTCTime)
        /// On a date of each zone's calendar.
        case on(CivilDate)
    }

    /// How a round's pushes are distributed over time.
    package enum Spread: Hashable, Sendable {
        /// Evenly over the window or, if the campaign repeats, over the time between two rounds.
        case evenly
        /// Evenly over the first milliseconds of the window.
        case over(milliseconds: Int64)
        /// As early as possible, with at most this number of pushes a second in all zones together.
        case rate(Double)
    }

    /// A share of the audience that gets the push before the campaign waits.
    package struct Stage: Hashable, Sendable {
        /// What the campaign waits for after the stage.
        package enum Gate: Hashable, Sendable {
            case wait(milliseconds: Int64)
            /// An operator's `resume`. A plan assumes that the operator resumes at once.
            case resume
        }

        /// The share of the audience that has got the push at the end of this stage, earlier stages included: above 0
        /// and at most 1.
        package let share: Double
        package let gate: Gate

        package init(share: Double, gate: Gate) { (self.share, self.gate) = (share, gate) }
    }

    /// Further pushes to devices that have not reported that they are done.
    package struct Repetition: Hashable, Sendable {
        /// The least time between two pushes to a device, in milliseconds.
        package let every: Int64
        /// The maximum number of rounds, including the first round.
        package let max: Int

        package init(every: Int64, max: Int) { (self.every, self.max) = (every, max) }
    }

    package let start: Start
    package let window: CampaignWindow?
    package let spread: Spread
    package let avoid: AvoidedMinutes
    /// The part of the day in which devices get no push, by the clocks of their own zones; nil if there is none.
    package let quiet: QuietHours?
    /// Empty if the campaign has no stages. Otherwise the last stage's share is 1.
    package let stages: [Stage]
    package let repetition: Repetition?
    /// The number of parts of the audience that get their pushes one after the other in each round.
    package let cohorts: Int

    package static let limits = (stages: 10, rounds: 24, cohorts: 64)
    /// The least time between two rounds in milliseconds.
    package static let leastEvery: Int64 = 60_000
    /// The greatest rate in pushes a second.
    package static let greatestRate = 1e7
    /// The longest duration in milliseconds: 31 days. A plan without a window must not take longer, either.
    package static let longest: Int64 = 31 * 86_400_000

    package init(
        start: Start = .now, window: CampaignWindow? = nil, spread: Spread,
        avoid: AvoidedMinutes = .none, quiet: QuietHours? = nil, stages: [Stage] = [],
        repetition: Repetition? = nil, cohorts: Int = 1
    ) throws(ScheduleError) {
        try Self.check(spread, hasWindow: window != nil, repetition)
        try Self.check(stages)
        try Self.check(repetition)
        guard (1...Self.limits.cohorts).contains(cohorts) else {
            throw ScheduleError(
                field: .cohorts, reason: "a number from 1 to \(Self.limits.cohorts) is needed")
        }
        (self.start, self.window, self.spread, self.avoid) = (start, window, spread, avoid)
        (self.quiet, self.stages, self.repetition, self.cohorts) = (quiet, stages, repetition, cohorts)
    }

    /// Creates a schedule from the parts of a checked schedule.
    init(
        start: Start, window: CampaignWindow?, unchecked spread: Spread, avoid: AvoidedMinutes,
        quiet: QuietHours?, stages: [Stage], repetition: Repetition?, cohorts: Int
    ) {
        (self.start, self.window, self.spread, self.avoid) = (start, window, spread, avoid)
        (self.quiet, self.stages, self.repetition, self.cohorts) = (quiet, stages, repetition, cohorts)
    }

    /// Whether devices of different zones may get their pushes at different times.
    package var dividesByZone: Bool { window?.zone == .device || quiet != nil }

    /// The milliseconds from the start to the end of a round without stages; nil if pushes have a rate, or are spread evenly over
    /// the whole window.
    package var roundLength: Int64? {
        switch spread {
        case .rate: nil
        case .evenly: repetition?.every
        case .over(let milliseconds): milliseconds
        }
    }

    private static func check(
        _ spread: Spread, hasWindow: Bool, _ repetition: Repetition?
    ) throws(ScheduleError) {
        switch spread {
        case .evenly:
            guard hasWindow || repetition != nil else {
                throw ScheduleError(
                    field: .spread, reason: "without a window, a duration such as 45m or a rate is needed")
            }
        case .over(let milliseconds):
            guard (1000...longest).contains(milliseconds) else {
                throw ScheduleError(field: .spread, reason: "the duration must be from 1 second to 31 days")
            }
            if let repetition, milliseconds > repetition.every {
                throw ScheduleError(
                    field: .spread,
                    reason:
                        "\(PlanText.duration(milliseconds)) is longer than the \(PlanText.duration(repetition.every)) between two rounds"
                )
            }
        case .rate(let rate):
            guard rate > 0, rate <= greatestRate else {
                throw ScheduleError(
                    field: .rate, reason: "a number above 0 and up to 10,000,000 pushes a second is needed")
            }
        }
    }

    private static func check(_ stages: [Stage]) throws(ScheduleError) {
        func fail(_ reason: String) -> ScheduleError { ScheduleError(field: .stages, reason: reason) }
        guard stages.count <= limits.stages else {
            throw fail("there can be at most \(limits.stages) stages")
        }
        var last = 0.0
        for stage in stages {
            guard stage.share > last, stage.share <= 1 else {
                throw fail("each share must be larger than the share before it, above 0 and at most 100 %")
            }
            last = stage.share
            if case .wait(let milliseconds) = stage.gate, !(0...longest).contains(milliseconds) {
                throw fail("the wait of a stage must be from 0 to 31 days")
            }
        }
        guard stages.isEmpty || last == 1 else { throw fail("the last share must be 100 %") }
    }

    private static func check(_ repetition: Repetition?) throws(ScheduleError) {
        guard let repetition else { return }
        guard (leastEvery...longest).contains(repetition.every) else {
            throw ScheduleError(
                field: .repeat, reason: "\"every\" must be at least 1 minute and at most 31 days")
        }
        guard (1...limits.rounds).contains(repetition.max) else {
            throw ScheduleError(field: .repeat, reason: "\"max\" must be from 1 to \(limits.rounds)")
        }
    }
}
