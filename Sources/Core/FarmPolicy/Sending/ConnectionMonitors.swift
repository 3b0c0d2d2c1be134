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

/// Finds out that an HTTP/2 connection makes no progress, whatever bytes arrive on it.
///
/// Only a response is progress. PINGs, empty frames, half a response and new settings are not: a gateway that sends them and
/// answers nothing would keep its connection for ever. Moments are milliseconds since the connection began; they may wrap.
package struct ProgressMonitor: Hashable, Sendable {
    /// Why a connection is of no more use.
    package enum Stall: Hashable, Sendable, CustomStringConvertible {
        /// So many requests in a row reached their deadline, all sent after the last response.
        case unanswered(Int)
        /// The gateway allowed no stream for as long as a request may take.
        case noStreams

        package var description: String {
            switch self {
            case .unanswered(let count): "requests in a row without a response: \(count)"
            case .noStreams: "the gateway allows no streams"
            }
        }
    }

    /// Requests in a row without a response that end a connection; fewer, if nothing speaks for it.
    package static let enough = (proven: 3, new: 2)

    private let timeout: UInt32
    private var lastResponse: UInt32?
    private var unanswered = 0
    private var shutSince: UInt32?

    /// - Parameter timeout: milliseconds that a request may take.
    package init(timeout: UInt32) { self.timeout = timeout }

    /// A response came, whatever it said.
    package mutating func responded(at now: UInt32) {
        lastResponse = now
        (unanswered, shutSince) = (0, nil)
    }

    /// A request reached its deadline. One that is older than the last response says nothing about the connection: the gateway
    /// may never respond to its token.
    package mutating func timedOut(sentAt: UInt32) {
        if let lastResponse, Int32(bitPattern: sentAt &- lastResponse) < 0 { return }
        unanswered += 1
    }

    /// - Parameter allowsStreams: the gateway lets the connection have streams.
    /// - Returns: why the connection is to be replaced, if it is.
    package mutating func stall(allowsStreams: Bool, at now: UInt32) -> Stall? {
        if unanswered >= (lastResponse == nil ? Self.enough.new : Self.enough.proven) {
            return .unanswered(unanswered)
        }
        guard !allowsStreams else {
            shutSince = nil
            return nil
        }
        let since = shutSince ?? now
        shutSince = since
        return now &- since >= timeout ? .noStreams : nil
    }
}
