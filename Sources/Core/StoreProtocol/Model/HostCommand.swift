/// What is said on ``FarmKeys/commands`` to the coordinators of all hosts.
package enum HostCommand: Equatable, Sendable {
    /// A host has come, or is about to go: look at the registry.
    case hosts
    /// A host has gone in order: no host waits for it to return.
    case left(host: String)
    /// Leases of an app were given back: take what should be yours.
    case free(app: String)
    /// Something else has changed, such as a pause: look at everything.
    case other
    /// The app's feedback service is to be read.
    case feedback(app: String)
    /// An operator has put something before the coordinators.
    case operation
    /// Shards that were set aside after crashes go on.
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
