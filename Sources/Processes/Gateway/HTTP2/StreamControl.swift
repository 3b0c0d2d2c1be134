import APNs
import FarmPolicy

/// Computes how many streams one connection may open now, from what its gateway allows, refuses and responds.
struct StreamControl: ~Copyable {
    private(set) var budget: StreamBudget
    private(set) var refusals: RefusedStreams
    private var progress: ProgressMonitor
    /// Whether a response has proved that the gateway accepts the credentials.
    private(set) var isProven = false
    /// Randomises the pauses of connections that were refused together.
    private var random: any RandomNumberGenerator

    /// - Parameters:
    ///   - hasProviderToken: whether only one stream is allowed until the gateway has accepted the token.
    ///   - cap: the maximum number of streams, even if the gateway allows more.
    ///   - timeout: the timeout of a request in milliseconds.
    init(
        hasProviderToken: Bool, cap: Int, timeout: UInt32, random: any RandomNumberGenerator, at now: Instant
    ) {
        budget = StreamBudget(aloneUntilAuthenticated: hasProviderToken, cap: cap)
        refusals = RefusedStreams(start: now)
        progress = ProgressMonitor(timeout: timeout)
        self.random = random
    }

    var open: Int { budget.open }
    /// Whether fewer streams are used than the gateway allows, because the gateway had trouble or refused
    /// streams.
    var isSlowed: Bool { budget.isSlowed || !refusals.isUnrestricted }

    /// Returns how many streams may be opened if the session has room for `free`.
    func room(of free: Int) -> Int { refusals.room(of: min(budget.available, free)) }

    mutating func opened() {
        budget.opened()
        refusals.sent()
    }

    mutating func closed() { budget.closed() }

    mutating func takeLowered() -> Bool { budget.takeLowered() }

    mutating func turn(to now: Instant) { refusals.turn(to: now) }

    mutating func poll(at now: Instant) { refusals.poll(at: now) }

    /// Notes that a request reached its deadline.
    mutating func timedOut(sentAt: UInt32) { progress.timedOut(sentAt: sentAt) }

    /// Notes that `late` of `waiting` requests were late. Few lost responses mean little; many mean that the gateway is too slow.
    mutating func timedOut(_ late: Int, of waiting: Int) {
        if late * 8 > waiting { budget.timedOut() }
    }

    /// - Parameter moment: the time in milliseconds since the connection began.
    /// - Returns: why the connection must be replaced; nil when it works.
    mutating func stall(at moment: UInt32) -> ProgressMonitor.Stall? {
        progress.stall(allowsStreams: budget.limit > 0, at: moment)
    }

    mutating func settings(maxConcurrentStreams: UInt32?) {
        budget.settings(maxConcurrentStreams: maxConcurrentStreams)
    }

    mutating func goAway() { budget.goAway() }

    /// Notes a response of any status.
    mutating func responded(at moment: UInt32) {
        budget.responded()
        progress.responded(at: moment)
        refusals.responded()
    }

    /// Notes that the gateway accepts the credentials.
    mutating func prove() {
        guard !isProven else { return }
        isProven = true
        budget.authenticated()
    }

    /// Notes a response that is not an acceptance.
    mutating func rejected(_ verdict: Verdict) {
        if verdict.provesAuthentication { prove() }
        switch verdict {
        case .serverTrouble, .outcomeUnknown: budget.troubled()
        case .throttled: budget.throttled()
        default: break
        }
    }

    /// Counts 429 responses as gateway trouble, because several devices got them.
    mutating func slowDownForThrottling() { budget.slowDownForThrottling() }

    /// Notes that a push ended without a response.
    mutating func endedUnanswered() { refusals.endedUnanswered(using: &random) }

    /// Notes that the gateway did not process a push that was sent in time.
    ///
    /// - Parameter isRefused: whether the stream itself was refused, rather than ended with its connection.
    mutating func noteUnprocessed(isRefused: Bool) {
        if isRefused { budget.refused() }
        refusals.noteUnprocessed(isRefused: isRefused, using: &random)
    }
}
