/// Chooses how many connections an app uses in one worker. Adds connections if, for a while, all streams were in use
/// and pushes waited. Removes connections if, for a while, fewer connections would have been enough.
///
/// If more connections increase the rate too little, something other than the connections limits the rate, and the step
/// up is undone. After each undone step in a row, the wait before the next step up is longer.
///
/// An automatic scale measures time in response times: a backlog at a gateway that responds after 200 ms gets its connections
/// within some seconds, one at a near gateway within one. See ``ConnectionForecast`` for its steps up.
package struct ConnectionScale: Hashable, Sendable {
    package struct Step: Hashable, Sendable {
        package enum Cause: String, Hashable, Sendable {
            /// All streams were in use while pushes waited.
            case blocked = "streams were short"
            /// The next lower number of connections would have been enough.
            case idle = "fewer are enough"
            /// The last step up did not increase the rate.
            case useless = "more gained nothing"
            /// The gateway had trouble after the last step up.
            case troubled = "more made trouble"
            /// The connections of the last step up could not be opened.
            case unmade = "more cannot be made"
        }

        package let from: Int
        package let to: Int
        package let cause: Cause
    }

    /// A step up whose gain is being measured.
    private struct Trial: Hashable {
        let from: Int
        /// Responses per second before the step.
        let rate: Double
    }

    /// A step up is undone if it gains less than this share of the ideal gain in responses per second. With the ideal
    /// gain, the responses grow in proportion to the connections.
    private static let leastGain = 0.25
    /// Connections are removed only if the remaining connections would then use at most this share of their streams.
    private static let fullness = 0.5
    /// How many settle periods pass between an undone step up and the next step up: `first` after the first undone
    /// step, twice as many after each further one, up to `most`.
    private static let trialPause = (first: 5, most: 160)

    private let settings: GovernorSettings
    /// The number of connections to use.
    package private(set) var wanted: Int
    private var settledAt: Instant?
    /// Since when connections have been missing although there was work; nil if no connection is missing.
    private var shortSince: Instant?
    private var trial: Trial?
    private var judged = GovernorSum()
    private var blocked = GovernorSum()
    private var slack = Duration.zero
    private var heldUntil: Instant?
    private var trialPause = Self.trialPause.first
    private var forecast = ConnectionForecast()
    /// Whether there were responses since the connections were last idle.
    private var hasResponses = false

    package init(_ settings: GovernorSettings, beginningWith count: Int? = nil) {
        self.settings = settings
        wanted = min(max(count ?? 0, settings.minConnections), settings.maxConnections)
    }

    /// - Parameter isHeldBack: whether the app's rate is limited because the gateway has trouble.
    package mutating func decide(_ sample: GovernorSample, isHeldBack: Bool, at now: Instant) -> Step? {
        if settings.growsByItself { wanted = max(wanted, min(sample.connections, settings.maxConnections)) }
        if sample.wasLowered || sample.isSlowed || sample.isStopped || isHeldBack {
            hold(at: now, periods: 1)
        }
        guard areAllConnected(sample, at: now) else { return giveUp(sample, at: now) }
        let isSettled = settledAt.map { now >= $0 } ?? true
        // An automatic scale measures each step up for some response times, and needs no settle period before it.
        guard isSettled || isAutomatic else { return nil }
        // The first responses after idle time arrive in a part of a sample, so with this sample the rate would be too low.
        defer { hasResponses = sample.count > 0 || hasResponses && sample.open > 0 }
        if sample.blocked >= 0.5, trial == nil { forecast.noteUse(of: wanted, at: now) }
        return judge(sample, at: now) ?? grow(sample, at: now) ?? (isSettled ? shrink(sample, at: now) : nil)
    }

    // MARK: Settling

    /// Returns whether all wanted connections are open. Connections are opened only while pushes wait or are in flight,
    /// so at other times this function returns true.
    private mutating func areAllConnected(_ sample: GovernorSample, at now: Instant) -> Bool {
        guard sample.connections < wanted, sample.blocked > 0 || sample.open > 0 else {
            shortSince = nil
            return true
        }
        if shortSince == nil { shortSince = now }
        converge(at: now)
        return false
    }

    private mutating func giveUp(_ sample: GovernorSample, at now: Instant) -> Step? {
        guard let shortSince, let trial, sample.connections >= trial.from,
            now - shortSince >= settings.settlePeriod + .seconds(10)
        else { return nil }
        refuse(at: now)
        return change(to: max(sample.connections, settings.minConnections), .unmade, at: now)
    }

    private mutating func converge(at now: Instant) {
        settledAt = now + settings.settlePeriod
        (judged, blocked, slack) = (GovernorSum(), GovernorSum(), .zero)
    }

    private mutating func change(to count: Int, _ cause: Step.Cause, at now: Instant) -> Step? {
        guard count != wanted else { return nil }
        let step = Step(from: wanted, to: count, cause: cause)
        wanted = count
        shortSince = nil
        converge(at: now)
        return step
    }

    private var isAutomatic: Bool { settings.scale == .automatic }

    /// Whether samples cover enough time for a step of the scale.
    ///
    /// - Parameter responseTimes: how many response times are enough for an automatic scale.
    private func isEnough(_ sum: GovernorSum, responseTimes: Int) -> Bool {
        guard isAutomatic else { return sum.span >= settings.minSustain }
        guard let responseTime = sum.responseTime else { return false }
        return sum.span >= responseTime * responseTimes
    }

    // MARK: Steps up, and their undoing

    private mutating func hold(at now: Instant, periods: Int) {
        let end = now + settings.settlePeriod * periods
        if heldUntil.map({ $0 < end }) ?? true { heldUntil = end }
        blocked = GovernorSum()
    }

    /// Delays the next step up, because the last step up is being undone.
    private mutating func refuse(at now: Instant) {
        trial = nil
        hold(at: now, periods: trialPause)
        trialPause = min(2 * trialPause, Self.trialPause.most)
    }

    private mutating func judge(_ sample: GovernorSample, at now: Instant) -> Step? {
        guard let trial else { return nil }
        judged.add(sample)
        guard isEnough(judged, responseTimes: 1) else { return nil }
        if judged.troubleShare > 0.02 {
            refuse(at: now)
            return change(to: trial.from, .troubled, at: now)
        }
        let best = Double(wanted) / Double(trial.from) - 1
        let gain = trial.rate > 0 ? judged.taken / trial.rate - 1 : best
        if judged.blocked >= judged.seconds / 2, gain < Self.leastGain * best {
            guard isEnough(judged, responseTimes: 10) else { return nil }
            refuse(at: now)
            return change(to: trial.from, .useless, at: now)
        }
        defer { judged = GovernorSum() }
        self.trial = nil
        trialPause = Self.trialPause.first
        // Keep the samples that were added after this step up: if all streams were in use again, these samples count
        // for the next step up.
        if judged.blocked >= judged.seconds / 2 { blocked = judged }
        return nil
    }

    private mutating func grow(_ sample: GovernorSample, at now: Instant) -> Step? {
        guard !settings.growsByItself, trial == nil, wanted < settings.maxConnections else { return nil }
        if sample.isBusy || sample.isTroubled || sample.blocked < 0.25 { blocked = GovernorSum() }
        guard !sample.isBusy, !sample.isTroubled, sample.blocked >= 0.5 else { return nil }
        if let heldUntil, now < heldUntil { return nil }
        guard hasResponses || !isAutomatic else { return nil }
        blocked.add(sample)
        guard isEnough(blocked, responseTimes: 1) else { return nil }
        trial = Trial(from: wanted, rate: blocked.taken)
        let next =
            isAutomatic
            ? forecast.next(after: wanted, load: sample.load, at: now) : settings.scale.up(from: wanted)
        let step = change(to: min(next, settings.maxConnections), .blocked, at: now)
        if step == nil { trial = nil }
        return step
    }

    // MARK: Down

    private mutating func shrink(_ sample: GovernorSample, at now: Instant) -> Step? {
        let less = max(settings.scale.down(from: wanted), settings.minConnections)
        guard less < wanted else { return nil }
        let each = sample.connections > 0 ? Double(sample.streams) / Double(sample.connections) : 0
        guard sample.blocked < 0.05, sample.open <= Self.fullness * each * Double(less) else {
            slack = .zero
            return nil
        }
        slack += sample.span
        guard slack >= settings.minSustain else { return nil }
        trial = nil
        trialPause = Self.trialPause.first
        return change(to: less, .idle, at: now)
    }
}
