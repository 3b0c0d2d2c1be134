/// The coordinator in one line, for `systemctl status`.
struct ServiceStatus: Equatable {
    enum Phase: Equatable { case starting, running, reloading, stopping }

    var phase = Phase.starting
    var isRedisThere = false
    var hosts = 0
    var readyWorkers = 0
    var workers = 0
    /// Pushes settled in the last second, on this host.
    var rate: UInt64 = 0
    /// Pushes of the farm that are neither delivered nor given up, as Redis last counted them.
    var open = 0
    var paused: [String] = []
    /// Why the configuration on disk was refused, if it was.
    var refusal: String?

    var text: String {
        var parts: [String] = []
        switch phase {
        case .starting: return isRedisThere ? "starting" : "starting: waits for Redis"
        case .running: break
        case .reloading: parts.append("reloading")
        case .stopping: parts.append("stopping")
        }
        if !isRedisThere { parts.append("Redis is away") }
        parts.append(hosts == 1 ? "1 host" : "\(hosts) hosts")
        parts.append("\(readyWorkers) of \(workers) workers ready")
        if phase != .stopping {
            parts.append("\(rate) pushes/s")
            parts.append("\(open) open")
        }
        if !paused.isEmpty { parts.append("paused: " + Self.list(paused)) }
        if let refusal { parts.append("configuration refused: \(refusal)") }
        return parts.joined(separator: ", ")
    }

    private static let mostNames = 5

    private static func list(_ names: [String]) -> String {
        let sorted = names.sorted()
        let more = sorted.count - mostNames
        return sorted.prefix(mostNames).joined(separator: " ") + (more > 0 ? " and \(more) more" : "")
    }
}
