/// A message to the coordinators of all hosts, sent on the channel ``FarmKeys/coordinators``.
package enum FarmMessage: Equatable, Sendable {
    /// A host joins or is about to leave, so receivers read the hosts hash.
    case hosts
    /// A host left as planned, so receivers do not wait for its return.
    case hostLeft(host: String)
    /// Leases of an app were released. Each receiver acquires the leases that placement assigns to its host.
    case leasesReleased(app: String)
    /// Other state has changed, such as a pause, so receivers read all state again.
    case refresh
    /// The host with the app's intake must read the app's feedback service.
    case feedback(app: String)
    /// An operator requested an operation.
    case operation
    /// An operator released the quarantined shards, so receivers end the quarantine of every shard.
    case quarantineEnded

    package init(_ text: String) {
        let words = text.split(separator: " ", maxSplits: 1)
        switch words.first {
        case "hosts": self = .hosts
        case "quarantine_ended": self = .quarantineEnded
        case "operation": self = .operation
        case "left" where words.count == 2: self = .hostLeft(host: String(words[1]))
        case "leases_released" where words.count == 2: self = .leasesReleased(app: String(words[1]))
        case "feedback" where words.count == 2: self = .feedback(app: String(words[1]))
        default: self = .refresh
        }
    }

    package var text: String {
        switch self {
        case .hosts: "hosts"
        case .hostLeft(let host): "left \(host)"
        case .leasesReleased(let app): "leases_released \(app)"
        case .feedback(let app): "feedback \(app)"
        case .refresh: "refresh"
        case .quarantineEnded: "quarantine_ended"
        case .operation: "operation"
        }
    }
}
