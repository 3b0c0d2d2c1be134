/// Finds out that a silent connection is dead, by PING.
///
/// Asks when nothing was read for a while though requests are open, and now and then on an idle connection.
/// Any byte that comes back proves life, the PING's own answer or not.
package struct PingMonitor: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        /// Nothing to do before this time.
        case wait(until: Instant)
        /// Send a PING now.
        case ping
        /// The PING was not answered: the connection is dead.
        case dead
    }

    private let busy: Duration
    private let idle: Duration?
    private let timeout: Duration
    private var lastRead: Instant
    /// When the first of the open requests was sent; nil: none is open.
    private var busySince: Instant?
    private var pingedAt: Instant?

    /// - Parameters:
    ///   - busy: quiet for this long with requests open: PING.
    ///   - idle: quiet for this long with none open: PING; nil: never.
    ///   - timeout: a PING unanswered for this long: dead.
    package init(
        start: Instant, busy: Duration = .seconds(15), idle: Duration? = .seconds(3600),
        timeout: Duration = .seconds(10)
    ) {
        lastRead = start
        self.busy = busy
        self.idle = idle
        self.timeout = timeout
    }

    /// Bytes were read.
    package mutating func read(at now: Instant) {
        lastRead = now
        pingedAt = nil
    }

    /// The first request went out on an idle connection.
    package mutating func becameBusy(at now: Instant) { busySince = now }

    /// No request is open any more.
    package mutating func becameIdle() { busySince = nil }

    /// What to do now; ``Action/ping`` is taken for done.
    package mutating func act(at now: Instant) -> Action {
        guard let due else { return .wait(until: now + .seconds(3600)) }
        guard now >= due else { return .wait(until: due) }
        guard pingedAt == nil else { return .dead }
        pingedAt = now
        return .ping
    }

    private var due: Instant? {
        if let pingedAt { return pingedAt.advanced(by: timeout) }
        if let busySince { return max(lastRead, busySince).advanced(by: busy) }
        return idle.map { lastRead.advanced(by: $0) }
    }
}
