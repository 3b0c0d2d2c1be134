/// Decides from observations which alerts fire and clear.
///
/// An alert fires once. An alert that stays active is reported again at an interval, and fires again when its level rises. An
/// alert clears after its condition has been good for a time that depends on the alert's kind. The evaluator has no clock and
/// sends nothing.
package struct AlertEvaluator: Sendable {
    package enum Observation: Equatable, Sendable {
        /// - Parameter level: 1 or more; a higher level is worse.
        case bad(level: Int, text: String)
        case good
        /// The condition is unknown, so the alert keeps its state.
        case unclear
    }

    package struct Notification: Equatable, Sendable {
        package enum Event: String, Sendable { case fired, again, cleared }
        package let what: Event
        package let alert: Alert
        package let level: Int
        package let text: String
        /// When the alert fired, in Unix milliseconds.
        package let since: Int64
    }

    /// An alert that has fired and not cleared.
    package struct ActiveState: Equatable, Sendable {
        package var level: Int
        package var text: String
        package var since: Int64
        fileprivate var sentAt: Instant
        fileprivate var goodSince: Instant?
    }

    package private(set) var active: [Alert: ActiveState] = [:]
    /// The interval at which an alert that stays active is reported again.
    package var again: Duration

    package init(again: Duration = .seconds(3600)) { self.again = again }

    /// Adds an alert that another process or host has fired, so that the alert does not fire twice.
    package mutating func adopt(_ alert: Alert, level: Int, text: String, since: Int64, at now: Instant) {
        guard active[alert] == nil else { return }
        active[alert] = ActiveState(level: level, text: text, since: since, sentAt: now)
    }

    /// Removes alerts that other hosts are responsible for.
    package mutating func forget(where isTheirs: (Alert.Scope) -> Bool) {
        active = active.filter { !isTheirs($0.key.scope) }
    }

    /// - Parameters:
    ///   - observations: one per checked condition. If an active alert has no observation, its condition counts as good.
    ///   - clock: the current time in Unix milliseconds.
    package mutating func evaluate(_ observations: [Alert: Observation], at now: Instant, clock: Int64)
        -> [Notification]
    {
        var news: [Notification] = []
        for alert in Set(observations.keys).union(active.keys).sorted(by: { $0.id < $1.id }) {
            switch observations[alert] ?? .good {
            case .bad(let level, let text):
                if let one = bad(alert, level, text, now, clock) { news.append(one) }
            case .good: if let one = good(alert, now) { news.append(one) }
            case .unclear: active[alert]?.goodSince = nil
            }
        }
        return news
    }

    private mutating func bad(
        _ alert: Alert, _ level: Int, _ text: String, _ now: Instant, _ clock: Int64
    ) -> Notification? {
        guard var one = active[alert] else {
            active[alert] = ActiveState(level: level, text: text, since: clock, sentAt: now)
            return Notification(what: .fired, alert: alert, level: level, text: text, since: clock)
        }
        let isWorse = level > one.level
        (one.level, one.text, one.goodSince) = (level, text, nil)
        let isDue = isWorse || one.sentAt.duration(to: now) >= again
        if isDue { one.sentAt = now }
        active[alert] = one
        guard isDue else { return nil }
        return Notification(
            what: isWorse ? .fired : .again, alert: alert, level: level, text: text, since: one.since)
    }

    private mutating func good(_ alert: Alert, _ now: Instant) -> Notification? {
        guard var one = active[alert] else { return nil }
        let since = one.goodSince ?? now
        guard since.duration(to: now) >= alert.kind.clearsAfter else {
            one.goodSince = since
            active[alert] = one
            return nil
        }
        active[alert] = nil
        return Notification(what: .cleared, alert: alert, level: one.level, text: one.text, since: one.since)
    }
}

extension AlertEvaluator.Observation {
    /// Returns `bad` above `mark`, `good` below 80 % of `mark`, and `unclear` between these values, so that an alert does not
    /// fire and clear again and again.
    package static func above(
        _ mark: Double, _ value: Double, level: Int = 1, text: @autoclosure () -> String
    ) -> AlertEvaluator.Observation {
        if value > mark { return .bad(level: level, text: text()) }
        return value < mark * 0.8 ? .good : .unclear
    }
}

/// The share of errors among the responses of the last minute.
package struct ErrorShare: Sendable {
    private static let window = Duration.seconds(60)
    /// Minimum number of responses for a share.
    private static let least: UInt64 = 50

    private var samples: [(at: Instant, responses: UInt64, errors: UInt64)] = []

    package init() {}

    /// - Parameters:
    ///   - responses: the number of all responses so far, including errors.
    /// - Returns: the share in percent; nil when there are too few responses.
    package mutating func add(responses: UInt64, errors: UInt64, at now: Instant) -> Double? {
        samples.append((now, responses, errors))
        while samples.count > 2, samples[1].at.duration(to: now) >= Self.window { samples.removeFirst() }
        let count = responses &- samples[0].responses
        guard count >= Self.least else { return nil }
        return Double(errors &- samples[0].errors) * 100 / Double(count)
    }
}

/// Whether a process crashes repeatedly.
package struct CrashLoop: Sendable {
    private static let window = Duration.seconds(60)
    private static let most = 3

    private var ends: [Instant] = []

    package init() {}

    package mutating func ended(at now: Instant) {
        ends.append(now)
        if ends.count > Self.most { ends.removeFirst() }
    }

    /// Whether three crashes happened within a minute.
    package func isOn(at now: Instant) -> Bool {
        ends.count == Self.most && ends[0].duration(to: now) <= Self.window
    }
}
