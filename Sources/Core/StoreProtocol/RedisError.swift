package import RedisProtocol

/// Why Redis did not answer as hoped. No case carries an argument of a command: they may be secret.
package enum RedisError: Error, Equatable, Sendable {
    /// There is no connection now; nothing was sent.
    case notConnected(String)
    /// The connection ended before the answer: it may or may not have been done.
    case lost(String)
    /// As ``lost(_:)``: the answer took longer than the deadline. The connection is given up.
    case timedOut
    /// Not done; Redis cannot do it now. Repeat the same call later.
    case waitAndRepeat(RESPServerError)
    /// Not done, and repeating would not help.
    case refused(RESPServerError)
    /// The connection was closed by us.
    case closed

    /// Codes of answers that mean "not now". NOSCRIPT: scripts were flushed again while they were loaded. UNBLOCKED: a
    /// blocking call that a change of role has ended.
    private static let waitCodes: Set<String> = [
        "LOADING", "READONLY", "OOM", "MISCONF", "BUSY", "NOREPLICAS", "MASTERDOWN", "CLUSTERDOWN",
        "TRYAGAIN", "NOSCRIPT", "UNBLOCKED",
    ]

    package init(_ error: RESPServerError) {
        self = Self.waitCodes.contains(error.code) ? .waitAndRepeat(error) : .refused(error)
    }

    /// The first connection is still being made.
    package static let notYetConnected = RedisError.notConnected("not yet connected")

    /// What this connection's user may not do.
    package static let noScripts = RedisError.refused(
        RESPServerError(message: "NOPERM this user may not run the farm's scripts"))

    package var isTemporary: Bool {
        switch self {
        case .notConnected, .lost, .timedOut, .waitAndRepeat: true
        case .refused, .closed: false
        }
    }

    /// Whether Redis has the call, and will not do it: neither repeating nor another connection helps.
    package var isRefusal: Bool {
        if case .refused = self { true } else { false }
    }
}

extension RedisError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notConnected(let reason): "not connected to Redis: \(reason)"
        case .lost(let reason): "connection to Redis lost: \(reason)"
        case .timedOut: "Redis did not answer in time"
        case .waitAndRepeat(let error): "Redis cannot do it now: \(error.message)"
        case .refused(let error): "Redis refused: \(error.message)"
        case .closed: "the connection to Redis is closed"
        }
    }
}
