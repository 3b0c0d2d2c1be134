package import Scheduling

/// Forecasts whether a campaign can send its remaining pushes within its windows.
///
/// The forecast measures the rate at which pushes get an outcome. It needs some time without a change of rounds or stages for this
/// measurement. If the highest rate of the campaign is too low for the remaining pushes, no measurement is needed.
package struct CampaignForecast: Sendable {
    package enum Verdict: Equatable, Sendable {
        case fits
        /// The rate is not measured yet, or the pushes fit barely.
        case unclear
        case late(Shortfall)
    }

    /// The pushes that do not fit.
    package struct Shortfall: Equatable, Sendable {
        package let pushes: Int
        /// The measured rate, or the highest rate of the campaign, in pushes a second.
        package let rate: Double
        /// The sending time that is left in milliseconds.
        package let time: Int64

        package init(pushes: Int, rate: Double, time: Int64) {
            (self.pushes, self.rate, self.time) = (pushes, rate, time)
        }

        /// The shortfall in words, for an alert.
        package var text: String {
            let rate = PlanText.rate(max(0, (rate * 10).rounded() / 10))
            return "\(PlanText.pushes(pushes)) do not fit into the remaining \(PlanText.duration(time)) "
                + "at \(rate) pushes a second"
        }
    }

    /// A measurement covers the time in which the campaign should send this number of pushes. With fewer pushes, the sizes of
    /// cohorts, which are random, would look like changes of the rate.
    private static let measuredPushes = 300.0
    /// A smaller shortfall is never late.
    private static let leastShortfall = 10.0
    /// The maximum number of samples. When there are more, each second sample is removed.
    private static let mostSamples = 128

    /// The number of pushes with an outcome after some milliseconds of sending time.
    private struct Sample {
        let position: Int64
        let done: Int
    }

    /// The remaining pushes up to the end of a window.
    private struct Goal {
        let pushes: Int
        let time: Int64

        /// The pushes that do not fit at a rate in pushes a second.
        func shortfall(at rate: Double) -> Double { Double(pushes) - rate * Double(time) / 1000 }
        /// The rate in pushes a second at which all pushes fit.
        var rate: Double { Double(pushes) * 1000 / Double(max(1, time)) }
    }

    /// The shortest measurement in milliseconds.
    private let shortest: Int64
    private var sections: [RemainingWork.Part.Section] = []
    /// The times at which one of the sections may send.
    private var allowed = TimeRangeSet.empty
    private var samples: [Sample] = []
    /// The least milliseconds between two samples.
    private var spacing: Int64 = 1

    /// - Parameter shortest: the shortest measurement in milliseconds of sending time, 1 or more.
    package init(shortest: Int64) { self.shortest = shortest }

    /// Starts a new measurement, after a pause or a change of the rate.
    package mutating func restart() { (samples, spacing) = ([], 1) }

    /// - Parameters:
    ///   - work: the remaining pushes.
    ///   - open: the campaign's accepted pushes that have no outcome yet.
    package mutating func verdict(on work: RemainingWork, open: Int, at now: UTCTime) -> Verdict {
        measure(work, open: open, at: now)
        guard work.isSending else { return work.isBetweenStages ? .unclear : .fits }
        let goals = goals(work, at: now)
        let added = worst(goals, at: work.ceiling, tolerated: 0.05)
        if let added { return .late(added) }
        let wanted = goals.map { goal in
            goal.time == goals.last?.time ? Goal(pushes: goal.pushes + open, time: goal.time) : goal
        }
        guard let rate = measuredRate(for: wanted.map(\.rate).max() ?? 0, at: now) else { return .unclear }
        if let late = worst(wanted, at: rate, tolerated: 0.2) { return .late(late) }
        return worst(wanted, at: rate, tolerated: 0.05) == nil ? .fits : .unclear
    }

    /// The goal of each window's end: the pushes of all windows that end until then.
    private func goals(_ work: RemainingWork, at now: UTCTime) -> [Goal] {
        let position = allowed.position(of: now)
        var pushes = 0
        return work.parts.sorted { $0.end < $1.end }.map { part in
            pushes = pushes.adding(saturating: part.left)
            return Goal(
                pushes: pushes, time: max(0, allowed.position(of: part.end) - position - part.waits))
        }
    }

    /// The largest shortfall; nil if none is larger than the tolerated share of its goal.
    private func worst(_ goals: [Goal], at rate: Double, tolerated share: Double) -> Shortfall? {
        let missed = goals.filter { goal in
            goal.shortfall(at: rate) >= max(Self.leastShortfall, share * Double(goal.pushes))
        }
        return missed.max { $0.shortfall(at: rate) < $1.shortfall(at: rate) }.map { goal in
            Shortfall(
                pushes: Int(clamping: goal.shortfall(at: rate).rounded()), rate: rate, time: goal.time)
        }
    }

    // MARK: Measurement

    private mutating func measure(_ work: RemainingWork, open: Int, at now: UTCTime) {
        let present = work.parts.map(\.section)
        if present != sections {
            restart()
            sections = present
            allowed = TimeRangeSet(work.parts.flatMap(\.allowed.ranges))
        }
        let position = allowed.position(of: now)
        guard samples.last.map({ position - $0.position >= spacing }) ?? true else { return }
        let handled = work.parts.reduce(0) { $0.adding(saturating: $1.handled) }
        samples.append(Sample(position: position, done: handled - open))
        guard samples.count > Self.mostSamples else { return }
        samples = stride(from: 0, to: samples.count, by: 2).map { samples[$0] }
        spacing *= 2
    }

    /// The rate of the last time in pushes a second; nil if the measurement is too short.
    ///
    /// - Parameter wanted: the rate in pushes a second that would suffice.
    private func measuredRate(for wanted: Double, at now: UTCTime) -> Double? {
        guard wanted > 0, let last = samples.last else { return wanted > 0 ? nil : 0 }
        let length = max(shortest, Int64(clamping: Self.measuredPushes * 1000 / wanted))
        guard let first = samples.last(where: { last.position - $0.position >= length }) else { return nil }
        return Double(max(0, last.done - first.done)) * 1000 / Double(last.position - first.position)
    }
}
