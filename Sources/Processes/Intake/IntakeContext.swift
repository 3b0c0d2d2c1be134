import ControlChannel
import EventLoop
import Logging
import RedisClient

/// What the apps of one intake share.
@Loop final class IntakeContext {
    let redis: RedisConnection
    /// Of the farm.
    let shards: Int
    let log: Logger
    /// Tells the coordinator something.
    let notify: @Loop (IntakeNotice) -> Void
    let turn = WorkTurn()
    var counts = IntakeNotice.Heartbeat()

    init(
        redis: RedisConnection, shards: Int, log: Logger, notify: @escaping @Loop (IntakeNotice) -> Void
    ) {
        (self.redis, self.shards) = (redis, shards)
        (self.log, self.notify) = (log, notify)
    }
}
