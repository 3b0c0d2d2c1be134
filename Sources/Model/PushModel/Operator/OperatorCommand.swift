/// What an operator tells the coordinators, through Redis or over a coordinator's control socket.
package struct OperatorCommand: Equatable, Sendable {
    /// Each is carried out once, however often it arrives.
    package var id: String
    /// Who says it: `user@machine`.
    package var issuer: String
    /// Nil: every host.
    package var host: String?
    /// One of ``OperatorVerb``, or a newer one.
    package var verb: String
    package var arguments: [String]
    /// Says what it would do, and does nothing.
    package var isDryRun: Bool

    package init(
        id: String, issuer: String, host: String?, verb: String, arguments: [String] = [],
        isDryRun: Bool = false
    ) {
        (self.id, self.issuer, self.host, self.verb) = (id, issuer, host, verb)
        (self.arguments, self.isDryRun) = (arguments, isDryRun)
    }

    /// As a person would write it.
    package var text: String {
        ([verb] + arguments + (host.map { ["--host", $0] } ?? []) + (isDryRun ? ["--dry-run"] : []))
            .joined(separator: " ")
    }
}

/// What a coordinator can be told to do.
package enum OperatorVerb: String, CaseIterable, Sendable {
    /// Look at what is stored in Redis (pauses, rates, quarantines, pins), and follow it.
    case refresh = "look"
    /// `N`, `+N`, `-N`, `auto` or `default`.
    case scale
    /// Nothing, or the number of a worker.
    case quiet, resume, drain, stop, restart
    case upgrade, reload
    /// `APP NN`.
    case takeover
    case kill, purge, dump
    case logLevel = "log-level"
    case status
}

/// What a host says to an ``OperatorCommand``; the last one counts.
package struct OperatorAnswer: Equatable, Sendable {
    package enum State: String, CaseIterable, Sendable {
        /// It has the command.
        case accepted
        /// It is at it; the text says how far.
        case working
        case done
        /// It will not do it, and nothing is changed.
        case refused
        /// It has begun, and cannot finish.
        case failed
    }

    package var host: String
    package var state: State
    /// For a person; lines end with a line feed, but for the last one.
    package var text: String

    package init(host: String, state: State, text: String = "") {
        (self.host, self.state, self.text) = (host, state, text)
    }

    /// No other answer follows.
    package var isLast: Bool { state == .done || state == .refused || state == .failed }
}
