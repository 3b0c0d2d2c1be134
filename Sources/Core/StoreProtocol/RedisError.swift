package import RedisProtocol

/// Why a Redis call failed. No case contains a command's arguments, because they may be secret.
package enum RedisError: Error, Equatable, Sendable {
    /// There is no connection now. Nothing was sent.
    case notConnected(String)
    /// The connection ended before the reply. Redis may or may not have run the command.
    case lost(String)
    /// The reply missed the deadline. The connection is closed, and Redis may or may not have run the command.
    case timedOut
    /// Redis did not run the command, because it cannot do so now. The caller repeats the call later.
    case waitAndRepeat(RESPServerError)
    /// Redis did not run the command, and repeating the call would not help.
    case refused(RESPServerError)
    /// This process closed the connection.
    case closed

    /// Error codes after which a repeated call can succeed. NOSCRIPT means that the scripts were flushed while the farm loaded
    /// them. UNBLOCKED means that Redis ended a blocking call because the server's role changed.
    private static let waitCodes: Set<String> = [
        "LOADING", "READONLY", "OOM", "MISCONF", "BUSY", "NOREPLICAS", "MASTERDOWN", "CLUSTERDOWN",
        "TRYAGAIN", "NOSCRIPT", "UNBLOCKED",
    ]

    package init(_ error: RESPServerError) {
        self = Self.waitCodes.contains(error.code) ? .waitAndRepeat(error) : .refused(error)
    }

    /// The error before the first connection is established.
    package static let notYetConnected = RedisError.notConnected("not yet connected")

    /// The error for a Redis user that may not run scripts.
    package static let noScripts = RedisError.refused(
        RESPServerError(message: "NOPERM this Redis user may not run the farm's scripts"))

    package var isTemporary: Bool {
        switch self {
        case .notConnected, .lost, .timedOut, .waitAndRepeat: true
        case .refused, .closed: false
        }
    }

    /// Whether Redis received and refused the call. If so, the same call would fail again, even on a new connection.
    package var isRefusal: Bool {
        if case .refused = self { true } else { false }
    }
}

extension RedisError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notConnected(let reason): "not connected to Redis: \(reason)"
        case .lost(let reason): "connection to Redis lost: \(reason)"
        case .timedOut: "Redis did not reply in time"
        case .waitAndRepeat(let error): "Redis cannot run the command now: \(error.message)"
        case .refused(let error): "Redis refused: \(error.message)"
        case .closed: "the connection to Redis is closed"
        }
    }
}
