/// Limits an app's pushes per second while its gateway has trouble. If responses indicate trouble, the limit falls at
/// once. While they do not, the limit rises in steps, and is removed when it no longer has an effect.
///
/// The responses are judged in rounds. A round is a short time with enough responses. After a round with trouble, the
/// limit falls to slightly less than the rate that the gateway accepted, or to half if the gateway accepted nothing.
/// After a round without trouble, the limit rises: quickly up to the rate at which the trouble began, and slowly above
/// that rate. If a lower rate does not lower the share of responses with trouble, this share is tolerated and the limit
/// is removed.
package struct AllowedRate: Sendable {
    /// A round lasts until it has `responses` responses, because fewer responses prove little, but at most `seconds`
    /// seconds.
    private static let enough = (responses: 20, seconds: 10.0)
    private static let leastTroubles = 3
    private static let leastShare = 0.02
    /// The limit is removed after `rounds` rounds in which the limit had no effect, or after `seconds` seconds without a push.
    private static let forgets = (rounds: 5, seconds: 60.0)
    private static let least = 1.0

    private let length: Double
    /// Pushes per second; nil means unlimited.
    package private(set) var limit: Double?
    private var round = GovernorSum()
    /// Whether this round is ignored, because its responses are to pushes that were sent before the limit was lowered.
    private var isSkipping = false
    /// The mean rate that the gateway accepted in rounds without trouble and without a limit.
    private var usual = 0.0
    /// The rate at which trouble began.
    private var ceiling = 0.0
    private var growth = 0.0
    private var looseRounds = 0
    private var idleSeconds = 0.0
    private var wasStopped = false
    /// The share of responses with trouble that is tolerated, because the share does not depend on the rate.
    private var tolerated = 0.0
    /// The trouble share and the rate of the round that caused the last decrease of the limit; nil after a round
    /// without trouble.
    private var last: (share: Double, rate: Double)?
    /// The number of decreases in a row that did not lower the trouble share.
    private var futile = 0

    package init(_ settings: GovernorSettings) {
        length = max(0.5, settings.minSustain / .seconds(1) / 2)
    }

    /// - Returns: whether the limit has changed.
    package mutating func decide(_ sample: GovernorSample) -> Bool {
        let before = limit
        if sample.isStopped {
            if !wasStopped { stopped(sample) }
        } else {
            observe(sample)
        }
        wasStopped = sample.isStopped
        return limit != before
    }

    /// Halves the limit, because so many responses indicated trouble that the worker stopped sending for a while.
    private mutating func stopped(_ sample: GovernorSample) {
        round.add(sample)
        let rate = max(usual, limit == nil ? round.rate : 0)
        if ceiling == 0 || limit == nil { ceiling = rate }
        lower(to: min(limit ?? rate, rate) / 2)
    }

    private mutating func observe(_ sample: GovernorSample) {
        round.add(sample)
        idleSeconds = sample.responses + sample.troubles > 0 ? 0 : idleSeconds + sample.seconds
        if idleSeconds >= Self.forgets.seconds { forget() }
        guard round.seconds >= length,
            round.count >= Self.enough.responses || round.seconds >= Self.enough.seconds
        else { return }
        let done = round
        round = GovernorSum()
        guard !isSkipping else {
            isSkipping = false
            return
        }
        guard done.count >= Self.leastTroubles else { return }
        if done.troubles >= Self.leastTroubles, done.troubleShare > 1.3 * tolerated + Self.leastShare {
            decreaseLimit(after: done)
        } else {
            increaseLimit(after: done)
        }
    }

    // MARK: Down

    private mutating func decreaseLimit(after done: GovernorSum) {
        guard !isFutile(done) else { return }
        last = (done.troubleShare, done.rate)
        let tookSome = done.taken >= 0.01 * done.rate
        ceiling = tookSome ? done.taken : max(usual, done.rate, ceiling)
        lower(to: min(tookSome ? 0.85 * done.taken : done.rate / 2, 0.9 * (limit ?? done.rate)))
    }

    private mutating func lower(to rate: Double) {
        limit = max(Self.least, rate)
        growth = ceiling / 50
        looseRounds = 0
        isSkipping = true
        round = GovernorSum()
    }

    /// Checks whether lower limits help. If two decreases in a row did not lower the share of responses with trouble,
    /// tolerates this share, removes the limit and returns true.
    private mutating func isFutile(_ done: GovernorSum) -> Bool {
        guard let last, limit != nil, done.troubleShare < 0.8, done.rate < 0.9 * last.rate,
            done.troubleShare > 0.7 * last.share
        else {
            futile = 0
            return false
        }
        futile += 1
        guard futile >= 2 else { return false }
        tolerated = max(done.troubleShare, last.share)
        self.last = nil
        forget()
        return true
    }

    // MARK: Up

    private mutating func increaseLimit(after done: GovernorSum) {
        tolerated = min(tolerated, max(done.troubleShare, 0.9 * tolerated))
        futile = 0
        last = nil
        guard let limit else {
            usual = usual == 0 ? done.taken : 0.7 * usual + 0.3 * done.taken
            return
        }
        guard done.limited >= 0.25 * done.seconds || done.rate >= 0.8 * limit else {
            looseRounds += 1
            if looseRounds >= Self.forgets.rounds { forget() }
            return
        }
        looseRounds = 0
        if limit < 0.9 * ceiling {
            // Far below the rate at which trouble began, double the limit: several stops in a row may have made the
            // limit very low.
            self.limit = min(
                limit + max(Self.least, ceiling / 10, limit), max(0.9 * ceiling, limit + Self.least))
        } else {
            self.limit = limit + max(Self.least, growth)
            growth *= 1.5
        }
    }

    private mutating func forget() {
        (limit, idleSeconds, looseRounds, futile, isSkipping) = (nil, 0, 0, 0, false)
    }
}
