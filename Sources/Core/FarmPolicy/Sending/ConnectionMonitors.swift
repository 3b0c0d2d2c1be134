/// Detects dead connections with PING.
///
/// A PING is due when nothing was read for a while although requests are open. On an idle connection, PINGs are rare. Any
/// received byte proves that the connection works, not only the response to a PING.
package struct PingMonitor: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        /// Do nothing before this time.
        case wait(until: Instant)
        /// Send a PING now.
        case ping
        /// The PING got no response, so the connection is dead.
        case dead
    }

    private let busy: Duration
    private let idle: Duration?
    private let timeout: Duration
    private var lastRead: Instant
    /// When the first open request was sent; nil when no request is open.
    private var busySince: Instant?
    private var pingedAt: Instant?

    /// - Parameters:
    ///   - busy: how long a connection with open requests may be silent before a PING.
    ///   - idle: how long an idle connection may be silent before a PING; nil means no PING.
    ///   - timeout: how long a PING may have no response before the connection counts as dead.
    package init(
        start: Instant, busy: Duration = .seconds(15), idle: Duration? = .seconds(3600),
        timeout: Duration = .seconds(10)
    ) {
        lastRead = start
        self.busy = busy
        self.idle = idle
        self.timeout = timeout
    }

    /// Notes that bytes were read.
    package mutating func read(at now: Instant) {
        lastRead = now
        pingedAt = nil
    }

    /// Notes the first request on an idle connection.
    package mutating func becameBusy(at now: Instant) { busySince = now }

    /// Notes that no request is open.
    package mutating func becameIdle() { busySince = nil }

    /// Returns the action for now. The monitor assumes that the caller sends a PING when the result is ``Action/ping``.
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

/// Detects HTTP/2 connections that make no progress although bytes arrive.
///
/// Only a response counts as progress. PINGs, empty frames, partial responses and new SETTINGS do not count, because a gateway
/// could send such frames forever on a useless connection. Times are milliseconds since the connection began; they may wrap
/// around.
package struct ProgressMonitor: Hashable, Sendable {
    /// Why a connection must be replaced.
    package enum Stall: Hashable, Sendable, CustomStringConvertible {
        /// This many requests in a row, all sent after the last response, reached their deadline.
        case noResponse(Int)
        /// The gateway allowed no stream for the duration of a request timeout.
        case noStreams

        package var description: String {
            switch self {
            case .noResponse(let count): "requests in a row without a response: \(count)"
            case .noStreams: "the gateway allows no streams"
            }
        }
    }

    /// The number of consecutive timed-out requests that ends a connection. `proven` applies after the first response on the
    /// connection, `new` before that response.
    package static let enough = (proven: 3, new: 2)

    private let timeout: UInt32
    private var lastResponse: UInt32?
    private var withoutResponse = 0
    private var shutSince: UInt32?

    /// - Parameter timeout: the timeout of a request in milliseconds.
    package init(timeout: UInt32) { self.timeout = timeout }

    /// Notes a response of any status.
    package mutating func responded(at now: UInt32) {
        lastResponse = now
        (withoutResponse, shutSince) = (0, nil)
    }

    /// Notes that a request reached its deadline. A request older than the last response does not count against the connection,
    /// because a gateway may leave all requests for one token without a response.
    package mutating func timedOut(sentAt: UInt32) {
        if let lastResponse, Int32(bitPattern: sentAt &- lastResponse) < 0 { return }
        withoutResponse += 1
    }

    /// - Parameter allowsStreams: whether the gateway allows streams on the connection.
    /// - Returns: why the connection must be replaced; nil when it works.
    package mutating func stall(allowsStreams: Bool, at now: UInt32) -> Stall? {
        if withoutResponse >= (lastResponse == nil ? Self.enough.new : Self.enough.proven) {
            return .noResponse(withoutResponse)
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
