import EventLoop
package import Logging

extension RedisConnection {
    /// One line in the log when Redis cannot be reached, one when it can again.
    package func logOutages(to log: Logger) {
        onOutage = { outage in
            switch outage {
            case .began(let error): log.warning("Redis is not reachable", metadata: ["error": "\(error)"])
            case .ended(let duration):
                log.notice("Redis is reachable again", metadata: ["after": "\(duration)"])
            }
        }
    }
}
