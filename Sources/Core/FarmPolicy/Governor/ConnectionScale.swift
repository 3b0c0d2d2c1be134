/// How many connections an app wants in one worker: more when streams were short for a while, fewer when a step less was enough.
///
/// A step up that gains too little for what it costs is taken back: then something else is the limit, and it takes longer each
/// time until that is tried again.
package struct ConnectionScale: Hashable, Sendable {
    package struct Step: Hashable, Sendable {
        package enum Cause: String, Hashable, Sendable {
            /// All streams were taken while work waited.
            case blocked = "streams were short"
            /// A step less was enough.
            case idle = "fewer are enough"
            /// The last step up gained nothing.
            case useless = "more gained nothing"
            /// The gateway was in trouble after the last step up.
            case troubled = "more made trouble"
            /// The last step up could not be made.
            case unmade = "more cannot be made"
        }

        package let from: Int
        package let to: Int
        package let cause: Cause
    }

    /// A step up that has to prove itself.
    private struct Trial: Hashable {
        let from: Int
        /// Answers a second before.
        let rate: Double
    }

    /// A step up has to gain this part of what it would in the best case.
    private static let leastGain = 0.25
    /// With so much of the streams of one step less in use, that is not enough.
    private static let fullness = 0.5
    /// Steps up that were taken back are not tried again for settle periods, at first and at most.
    private static let trialPause = (first: 5, most: 160)

    private let settings: GovernorSettings
    /// How many there should be.
    package private(set) var wanted: Int
    private var settledAt: Instant?
    /// Since when there are fewer than wanted while there is work.
    private var shortSince: Instant?
    private var trial: Trial?
    private var judged = GovernorSum()
    private var blocked = GovernorSum()
    private var slack = Duration.zero
    private var heldUntil: Instant?
    private var trialPause = Self.trialPause.first

    package init(_ settings: GovernorSettings, beginningWith count: Int? = nil) {
        self.settings = settings
        wanted = min(max(count ?? 0, settings.minConnections), settings.maxConnections)
    }

    /// - Parameter isHeldBack: the app's rate is limited because of the gateway's trouble.
    package mutating func decide(_ sample: GovernorSample, isHeldBack: Bool, at now: Instant) -> Step? {
        if settings.growsByItself { wanted = max(wanted, min(sample.connections, settings.maxConnections)) }
        if sample.wasLowered || sample.isSlowed || sample.isStopped || isHeldBack {
            hold(at: now, periods: 1)
        }
        guard areAllHere(sample, at: now) else { return giveUp(sample, at: now) }
        if let settledAt, now < settledAt { return nil }
        return judge(sample, at: now) ?? grow(sample, at: now) ?? shrink(sample, at: now)
    }

    // MARK: Settling

    /// Connections are made when there is work: without it none is missing.
    private mutating func areAllHere(_ sample: GovernorSample, at now: Instant) -> Bool {
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

    // MARK: Up, and back

    private mutating func hold(at now: Instant, periods: Int) {
        let end = now + settings.settlePeriod * periods
        if heldUntil.map({ $0 < end }) ?? true { heldUntil = end }
        blocked = GovernorSum()
    }

    /// A step up had no effect: the next is made later.
    private mutating func refuse(at now: Instant) {
        trial = nil
        hold(at: now, periods: trialPause)
        trialPause = min(2 * trialPause, Self.trialPause.most)
    }

    private mutating func judge(_ sample: GovernorSample, at now: Instant) -> Step? {
        guard let trial else { return nil }
        judged.add(sample)
        guard judged.span >= settings.minSustain else { return nil }
        defer { judged = GovernorSum() }
        if judged.troubleShare > 0.02 {
            refuse(at: now)
            return change(to: trial.from, .troubled, at: now)
        }
        let best = Double(wanted) / Double(trial.from) - 1
        let gain = trial.rate > 0 ? judged.taken / trial.rate - 1 : best
        if judged.blocked >= judged.seconds / 2, gain < Self.leastGain * best {
            refuse(at: now)
            return change(to: trial.from, .useless, at: now)
        }
        self.trial = nil
        trialPause = Self.trialPause.first
        // What proved the last step counts for the next.
        if judged.blocked >= judged.seconds / 2 { blocked = judged }
        return nil
    }

    private mutating func grow(_ sample: GovernorSample, at now: Instant) -> Step? {
        guard !settings.growsByItself, trial == nil, wanted < settings.maxConnections else { return nil }
        if sample.isBusy || sample.isTroubled || sample.blocked < 0.25 { blocked = GovernorSum() }
        guard !sample.isBusy, !sample.isTroubled, sample.blocked >= 0.5 else { return nil }
        if let heldUntil, now < heldUntil { return nil }
        blocked.add(sample)
        guard blocked.span >= settings.minSustain else { return nil }
        let before = Trial(from: wanted, rate: blocked.taken)
        let step = change(
            to: min(settings.scale.up(from: wanted), settings.maxConnections), .blocked, at: now)
        trial = step == nil ? nil : before
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
