import APNs
import FarmPolicy

/// How many streams one connection may open now, judged by what its gateway allows, refuses and responds.
struct StreamControl: ~Copyable {
    private(set) var budget: StreamBudget
    private(set) var refusals: RefusedStreams
    private var progress: ProgressMonitor
    /// Some response has proved that the gateway takes our credentials.
    private(set) var isProven = false
    /// Spreads the pauses of connections that were refused together.
    private var random: any RandomNumberGenerator

    /// - Parameters:
    ///   - hasProviderToken: one stream only until the gateway has taken the token.
    ///   - cap: streams at most, whatever the gateway allows.
    ///   - timeout: in milliseconds, in which a request is to be answered.
    init(
        hasProviderToken: Bool, cap: Int, timeout: UInt32, random: any RandomNumberGenerator, at now: Instant
    ) {
        budget = StreamBudget(aloneUntilAuthenticated: hasProviderToken, cap: cap)
        refusals = RefusedStreams(start: now)
        progress = ProgressMonitor(timeout: timeout)
        self.random = random
    }

    var open: Int { budget.open }
    /// It sends less than the gateway allows, because that was in trouble or refused streams.
    var isSlowed: Bool { budget.isSlowed || !refusals.isCalm }

    /// Streams that may be opened, if the session has room for `free`.
    func room(of free: Int) -> Int { refusals.room(of: min(budget.available, free)) }

    mutating func opened() {
        budget.opened()
        refusals.sent()
    }

    mutating func closed() { budget.closed() }

    mutating func takeLowered() -> Bool { budget.takeLowered() }

    mutating func turn(to now: Instant) { refusals.turn(to: now) }

    mutating func poll(at now: Instant) { refusals.poll(at: now) }

    /// A request reached its deadline.
    mutating func timedOut(sentAt: UInt32) { progress.timedOut(sentAt: sentAt) }

    /// Of so many requests so many were late. A lost response now and then means little; many of them mean that the gateway does not
    /// keep up.
    mutating func timedOut(_ late: Int, of waiting: Int) {
        if late * 8 > waiting { budget.timedOut() }
    }

    /// - Parameter moment: milliseconds since the connection began.
    /// - Returns: why the connection is to be replaced, if it is.
    mutating func stall(at moment: UInt32) -> ProgressMonitor.Stall? {
        progress.stall(allowsStreams: budget.limit > 0, at: moment)
    }

    mutating func settings(maxConcurrentStreams: UInt32?) {
        budget.settings(maxConcurrentStreams: maxConcurrentStreams)
    }

    mutating func goAway() { budget.goAway() }

    /// A response came, whatever it said.
    mutating func responded(at moment: UInt32) {
        budget.answered()
        progress.responded(at: moment)
        refusals.responded()
    }

    /// The gateway takes our credentials.
    mutating func prove() {
        guard !isProven else { return }
        isProven = true
        budget.authenticated()
    }

    /// A response was no acceptance.
    mutating func rejected(_ verdict: Verdict) {
        if verdict.provesAuthentication { prove() }
        switch verdict {
        case .serverTrouble, .outcomeUnknown: budget.troubled()
        case .throttled: budget.throttled()
        default: break
        }
    }

    /// Responses 429 are each device's own matter, unless they are several devices'.
    mutating func slowDownForThrottling() { budget.slowDownForThrottling() }

    /// A push ended without a response.
    mutating func endedUnanswered() { refusals.endedUnanswered(using: &random) }

    /// The gateway did not act on a push that was sent in time.
    ///
    /// - Parameter isRefused: the stream was refused by itself, not by the connection's end.
    mutating func noteUnprocessed(isRefused: Bool) {
        if isRefused { budget.refused() }
        refusals.noteUnprocessed(isRefused: isRefused, using: &random)
    }
}
