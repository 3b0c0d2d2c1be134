/// A command to the coordinators of all hosts, sent on the channel ``FarmKeys/commands``.
package enum HostCommand: Equatable, Sendable {
    /// A host joins or is about to leave. Read the hosts hash.
    case hosts
    /// A host left in order. Do not wait for its return.
    case left(host: String)
    /// Leases of an app were released. Acquire those that placement gives to this host.
    case free(app: String)
    /// Something else has changed, such as a pause. Read all state again.
    case other
    /// Read the app's feedback service.
    case feedback(app: String)
    /// An operator requested an operation.
    case operation
    /// Quarantined shards are resumed.
    case release

    package init(_ text: String) {
        let words = text.split(separator: " ", maxSplits: 1)
        switch words.first {
        case "hosts": self = .hosts
        case "release": self = .release
        case "operation": self = .operation
        case "left" where words.count == 2: self = .left(host: String(words[1]))
        case "free" where words.count == 2: self = .free(app: String(words[1]))
        case "feedback" where words.count == 2: self = .feedback(app: String(words[1]))
        default: self = .other
        }
    }

    package var text: String {
        switch self {
        case .hosts: "hosts"
        case .left(let host): "left \(host)"
        case .free(let app): "free \(app)"
        case .feedback(let app): "feedback \(app)"
        case .other: "look"
        case .release: "release"
        case .operation: "operation"
        }
    }
}
