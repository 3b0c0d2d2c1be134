import EventLoop
import FarmPolicy
import Gateway
import Logging

/// Applies the decisions of an app's ``Governor``: samples the connections, tells the pool how many connections to
/// keep, and limits how many pushes may be sent.
///
/// The limits are checked once per turn of the loop, so that they cost no time for each push.
@Loop final class AppGovernor {
    private let context: WorkerContext
    private let app: String
    private unowned let pool: ConnectionPool
    /// Called when sending may resume.
    private let wake: @Loop () -> Void
    /// Called before each decision.
    private let observe: @Loop () -> Observation

    private var configured = GovernorSettings()
    private var settings = GovernorSettings()
    private var governor = Governor(GovernorSettings())
    private var meter = LoadMeter(at: .now)
    private var throttles = ThrottleMonitor()
    private var limits = RateLimits()
    /// This worker's part of the farm's budget.
    private var share = FarmBudget.Share()
    private var tokens: TokenBucket?
    private var bits: BandwidthBucket?
    private lazy var poll = Timer { [unowned self] in decide() }
    private lazy var refill = Timer { [unowned self] in wake() }
    /// The sender's count of accepted pushes at the last decision.
    private var delivered: UInt64 = 0
    /// The number of responses since the last decision that refused a push without indicating gateway trouble.
    private var refusals = 0
    /// The number of responses since the last decision that indicate gateway trouble.
    private var troubles = 0
    private var bytes = 0
    private var loggedAt: Instant?

    /// Facts that the sender knows and the governor needs.
    struct Observation {
        var delivered: UInt64
        /// Whether the sender holds batches or has pushes in flight.
        var holdsBatches: Bool
        /// Whether sending is stopped, except for a probe, because the gateway has much trouble.
        var isStopped: Bool
    }

    init(
        _ context: WorkerContext, app: String, pool: ConnectionPool, wake: @escaping @Loop () -> Void,
        observe: @escaping @Loop () -> Observation
    ) {
        (self.context, self.app, self.pool) = (context, app, pool)
        (self.wake, self.observe) = (wake, observe)
    }

    /// Applies the gateway settings that the pool uses now. A governor whose settings are unchanged keeps its measurements.
    func apply(_ gatewaySettings: GatewaySettings, limits: RateLimits) {
        if gatewaySettings.governor != configured {
            configured = gatewaySettings.governor
            settings = bounded
            governor = Governor(settings)
        }
        pool.most = share.connections ?? .max
        pool.setWanted(governor.connections)
        self.limits = limits
        applyRates(at: .now)
    }

    /// Sets this worker's part of the farm's budget.
    func apply(_ share: FarmBudget.Share) {
        guard share != self.share else { return }
        self.share = share
        if bounded != settings {
            settings = bounded
            governor.change(to: settings)
        }
        pool.most = share.connections ?? .max
        pool.setWanted(governor.connections)
        applyRates(at: .now)
        wake()
    }

    private var bounded: GovernorSettings {
        var settings = configured
        settings.maxConnections = min(settings.maxConnections, share.connections ?? .max)
        settings.minConnections = min(settings.minConnections, settings.maxConnections)
        return settings
    }

    /// The limit in pushes per second while the gateway has trouble; nil means unlimited.
    var rate: Double? { governor.rate }

    // MARK: The turn

    /// Returns how many pushes the rates allow now.
    func allowance(at now: Instant) -> Int {
        measureBytes()
        return min(tokens?.available(at: now) ?? .max, bits?.available(at: now) ?? .max)
    }

    /// The number of pushes to check out in advance: as many as the rates allow in one second, and at least 1.
    var usefulWindow: Int {
        guard let rate = [tokens?.rate, bits?.rate].compactMap(\.self).min() else { return .max }
        return max(1, Int(clamping: min(rate, 1e9)))
    }

    /// Notes how much the sender has sent in this turn.
    ///
    /// - Parameters:
    ///   - waits: whether held pushes remain that may be sent.
    ///   - isLimited: whether only the rates delay the remaining pushes.
    func recordSent(_ sent: Int, waits: Bool, isLimited: Bool, at now: Instant) {
        if sent > 0 {
            tokens?.take(sent)
            bits?.take(sent)
        }
        if !poll.isRunning {
            guard sent > 0 || waits else { return }
            meter = LoadMeter(at: now)
            poll.start(after: settings.pollInterval, every: settings.pollInterval)
        }
        let isBlocked = waits && !isLimited && !pool.connections.isEmpty
        meter.note(isLimited ? .limited : isBlocked ? .blocked : .flowing, open: pool.openStreams, at: now)
        if isLimited, !refill.isRunning {
            refill.start(after: max(tokens?.wait ?? .zero, bits?.wait ?? .zero, .milliseconds(1)))
        }
    }

    /// Notes that nothing may be sent for now, even if pushes wait.
    func idle(at now: Instant) {
        if poll.isRunning { meter.note(.flowing, open: pool.openStreams, at: now) }
    }

    // MARK: Responses

    /// Notes a response that refused a push without indicating gateway trouble.
    func refused() { refusals += 1 }

    /// Notes a response that indicates gateway trouble.
    func troubled() { troubles += 1 }

    /// Notes that the gateway throttled a device.
    func throttled(device: UInt64) { throttles.throttled(device) }

    // MARK: Deciding

    private func decide() {
        let now = ContinuousClock.now
        let observation = observe()
        context.thread.refresh(at: now)
        let (throttled, others) = throttles.take(at: now)
        if throttled > 0 { pool.slowDownForThrottling() }
        var sample = meter.take(at: now)
        (sample.connections, sample.streams) = pool.live
        sample.responses = Int(clamping: observation.delivered &- delivered) + refusals + others
        sample.troubles = troubles + throttled
        sample.load = context.thread.share
        (sample.isSlowed, sample.wasLowered) = (pool.isSlowed, pool.takeLowered())
        sample.isStopped = observation.isStopped
        (delivered, refusals, troubles) = (observation.delivered, 0, 0)
        for change in governor.decide(sample, at: now) { carryOut(change, at: now) }
        let isAtMinimum = governor.connections == settings.minConnections && governor.rate == nil
        if isAtMinimum, !observation.holdsBatches { poll.stop() }
    }

    private func measureBytes() {
        guard bits != nil else { return }
        let written = pool.bytesWritten
        bits?.measured(bytes: written - bytes)
        bytes = written
    }

    private func carryOut(_ change: Governor.Change, at now: Instant) {
        switch change {
        case .connections(let step):
            pool.setWanted(step.to)
            context.log.info(
                "connections",
                metadata: [
                    "app": "\(app)", "from": "\(step.from)", "to": "\(step.to)",
                    "because": "\(step.cause.rawValue)",
                ])
            if step.to > step.from { wake() }
        case .rate(let before, let after):
            applyRates(at: now)
            log(before, after, at: now)
            wake()
        }
    }

    /// Logs a change of the rate. The rate moves in small steps, so only some steps are logged.
    private func log(_ before: Double?, _ after: Double?, at now: Instant) {
        guard let after else {
            loggedAt = nil
            return context.log.info("send rate is no longer reduced", metadata: ["app": "\(app)"])
        }
        let isDown = before.map { after < $0 } ?? true
        guard isDown, loggedAt.map({ now - $0 >= .seconds(30) }) ?? true else { return }
        loggedAt = now
        context.log.info(
            "send rate reduced: the gateway is overloaded or failing",
            metadata: ["app": "\(app)", "rate": "\(Int(clamping: after.rounded()))"])
    }

    private func applyRates(at now: Instant) {
        if let rate = [limits.rate, share.rate, governor.rate].compactMap(\.self).min() {
            if tokens == nil {
                tokens = TokenBucket(rate: rate, at: now)
            } else {
                tokens?.change(rate: rate, at: now)
            }
        } else {
            tokens = nil
        }
        if let bandwidth = [limits.bandwidth, share.bandwidth].compactMap(\.self).min() {
            if bits == nil {
                bits = BandwidthBucket(bitsPerSecond: bandwidth, at: now)
                bytes = pool.bytesWritten
            } else {
                bits?.change(bitsPerSecond: bandwidth, at: now)
            }
        } else {
            bits = nil
        }
    }
}
