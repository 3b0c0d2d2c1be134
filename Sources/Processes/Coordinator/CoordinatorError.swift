/// Why a coordinator does not start, or stops.
package enum CoordinatorError: Error, Equatable, CustomStringConvertible {
    case evictingRedis(policy: String)
    case hostNameTaken(String)
    case stateFolderTaken(lock: String, seconds: Int)
    /// What was handed over has no owner now: another start takes it.
    case successorLost

    package var description: String {
        switch self {
        case .evictingRedis(let policy):
            "Redis has maxmemory-policy \(policy), which throws keys away, and pushes with them; set it to noeviction"
        case .successorLost:
            "the coordinator that was to take over has ended, and this one has handed everything over: start again"
        case .stateFolderTaken(let lock, let seconds):
            "another coordinator of this state folder is running (it holds \(lock) for more than \(seconds) s)"
        case .hostNameTaken(let name):
            "another coordinator with the host name \(name) is alive; give each host of the farm its own (host: in the configuration)"
        }
    }
}
