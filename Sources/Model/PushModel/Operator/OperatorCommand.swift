/// A command from an operator to the coordinators, sent through Redis or over a coordinator's control socket.
package struct OperatorCommand: Equatable, Sendable {
    /// The id of the command. If a host reads a command with the same id from Redis again, the host does not execute it again.
    package var id: String
    /// The operator who sent the command: `user@machine`.
    package var issuer: String
    /// The host that must execute the command; nil: every host.
    package var host: String?
    /// The name of a case of ``OperatorVerb``, or a verb that only a newer version of the program knows.
    package var verb: String
    package var arguments: [String]
    /// If true, a host changes nothing, and only reports what the command would change.
    package var isDryRun: Bool

    package init(
        id: String, issuer: String, host: String?, verb: String, arguments: [String] = [],
        isDryRun: Bool = false
    ) {
        (self.id, self.issuer, self.host, self.verb) = (id, issuer, host, verb)
        (self.arguments, self.isDryRun) = (arguments, isDryRun)
    }

    /// The command as a person would type it.
    package var text: String {
        ([verb] + arguments + (host.map { ["--host", $0] } ?? []) + (isDryRun ? ["--dry-run"] : []))
            .joined(separator: " ")
    }
}

/// The commands that a coordinator can execute.
package enum OperatorVerb: String, CaseIterable, Sendable {
    /// Reads the desired state, for example pauses and rates, from Redis and applies it.
    case refresh
    /// Changes the number of workers. The argument is `N`, `+N`, `-N`, `auto` or `default`.
    case scale
    /// Commands to one worker, whose number is the argument. Without an argument, the command goes to all workers of the host.
    case quiet, resume, drain, stop, restart
    case upgrade, reload
    /// Takes over a shard. The arguments `APP NN` are the app and the number of the shard.
    case takeover
    case kill, purge, dump
    case logLevel = "log-level"
    case status
}

/// The response of a host to an ``OperatorCommand``. A host's later response to the command replaces its earlier response.
package struct OperatorReply: Equatable, Sendable {
    package enum State: String, CaseIterable, Sendable {
        /// The host has received the command.
        case accepted
        /// The host is executing the command. The text reports the progress.
        case working
        case done
        /// The host has refused the command, and has changed nothing.
        case refused
        /// The host has started to execute the command, but could not complete it.
        case failed
    }

    package var host: String
    package var state: State
    /// The text for the operator. Lines end with a line feed, except the last line.
    package var text: String

    package init(host: String, state: State, text: String = "") {
        (self.host, self.state, self.text) = (host, state, text)
    }

    /// Whether this is the last response to the command.
    package var isLast: Bool { state == .done || state == .refused || state == .failed }
}
