/// Why a coordinator does not start.
package enum CoordinatorError: Error, CustomStringConvertible {
    case evictingRedis(policy: String)

    package var description: String {
        switch self {
        case .evictingRedis(let policy):
            "Redis has maxmemory-policy \(policy), which throws keys away, and pushes with them; set it to noeviction"
        }
    }
}
