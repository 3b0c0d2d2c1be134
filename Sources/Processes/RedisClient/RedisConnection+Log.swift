import EventLoop
package import Logging

extension RedisConnection {
    /// One line in the log when Redis cannot be reached, one when it can again; and of each step one in ten minutes when a number
    /// in its reply is out of range.
    package func logOutages(to log: Logger) {
        var refused = RefusedValues()
        onClampedNumber = { step in
            guard refused.isToBeTold(at: step, now: .now) else { return }
            log.warning(
                "a number from Redis is out of range; the nearest possible one is used",
                metadata: ["step": "\(step)", "limit": "\(ForeignNumber.limit)"])
        }
        onOutage = { outage in
            switch outage {
            case .began(let error): log.warning("Redis is not reachable", metadata: ["error": "\(error)"])
            case .ended(let duration):
                log.notice("Redis is reachable again", metadata: ["after": "\(duration)"])
            }
        }
    }
}
