import APNs
import FarmPolicy

/// Decides whether one connection may open another stream now. Combines the limits of ``StreamBudget`` with the waiting times after
/// refused streams and with the progress of responses.
struct StreamControl: ~Copyable {
    private(set) var budget: StreamBudget
    private(set) var refusals: RefusedStreams
    private var progress: ProgressMonitor
    /// Whether a response has proved that the gateway accepts the credentials.
    private(set) var isProven = false
    /// Randomises delays, so that connections whose streams were refused at the same time do not retry at the same
    /// time.
    private var random: any RandomNumberGenerator

    /// - Parameters:
    ///   - hasProviderToken: whether a provider token authenticates the connection. If true, only one stream is allowed
    ///     until the gateway has accepted the token.
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

    /// Returns how many streams may be opened if the session has room for `free` more streams.
    func room(of free: Int) -> Int { refusals.room(of: min(budget.available, free)) }

    mutating func opened() {
        budget.opened()
        refusals.sent()
    }

    mutating func closed() { budget.closed() }

    mutating func takeLowered() -> Bool { budget.takeLowered() }

    mutating func setNow(_ now: Instant) { refusals.setNow(now) }

    mutating func poll(at now: Instant) { refusals.poll(at: now) }

    /// Notes that a request reached its deadline.
    mutating func timedOut(sentAt: UInt32) { progress.timedOut(sentAt: sentAt) }

    /// Notes that `late` of the `waiting` requests were late. A few late requests have no effect. If many requests are
    /// late, the gateway is too slow.
    mutating func timedOut(_ late: Int, of waiting: Int) {
        if late * 8 > waiting { budget.timedOut() }
    }

    /// - Parameter moment: the time in milliseconds since the connection began.
    /// - Returns: why the connection must be replaced; nil if the connection works.
    mutating func stall(at moment: UInt32) -> ProgressMonitor.Stall? {
        progress.stall(allowsStreams: budget.limit > 0, at: moment)
    }

    mutating func settings(maxConcurrentStreams: UInt32?) {
        budget.settings(maxConcurrentStreams: maxConcurrentStreams)
    }

    mutating func goAway() { budget.goAway() }

    /// Notes a response, whatever its status is.
    mutating func responded(at moment: UInt32) {
        budget.responded()
        progress.responded(at: moment)
        refusals.responded()
    }

    /// Notes that the gateway accepts the credentials.
    mutating func credentialsAccepted() {
        guard !isProven else { return }
        isProven = true
        budget.authenticated()
    }

    /// Notes a response that refuses a push.
    mutating func rejected(_ verdict: Verdict) {
        if verdict.provesAuthentication { credentialsAccepted() }
        switch verdict {
        case .serverTrouble, .outcomeUnknown: budget.troubled()
        case .throttled: budget.throttled()
        default: break
        }
    }

    /// Counts recent 429 responses as gateway trouble. Called when the gateway throttles several devices.
    mutating func slowDownForThrottling() { budget.slowDownForThrottling() }

    /// Notes that a push ended without a response.
    mutating func endedWithoutResponse() { refusals.endedWithoutResponse(using: &random) }

    /// Notes that the gateway did not process a push that was sent in time.
    ///
    /// - Parameter isRefused: true if the gateway refused this stream; false if the stream ended because its connection
    ///   ended.
    mutating func noteUnprocessed(isRefused: Bool) {
        if isRefused { budget.refused() }
        refusals.noteUnprocessed(isRefused: isRefused, using: &random)
    }
}
