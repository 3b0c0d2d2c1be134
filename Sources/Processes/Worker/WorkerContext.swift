import ControlChannel
import Delivery
import EventLoop
import FarmPolicy
import Logging
import RedisClient

/// What the parts of a worker share.
@Loop final class WorkerContext {
    let redis: RedisConnection
    /// The worker's name in Redis, unique for every start.
    let name: String
    /// Among the host's workers; spreads them over a gateway's addresses.
    let index: Int
    let log: Logger
    /// Tells the coordinator something.
    let notify: @Loop (Notice) -> Void
    /// Redis says that a shard of an app belongs to another owner, which was not withdrawn from us.
    var onFenced: @Loop (_ app: String) -> Void = { _ in }
    /// Until when the coordinator's leases hold, on the clock of ``BootClock``; nothing is sent later.
    var leaseClock = LeaseClock()
    let exclusiveTurn = ExclusiveTurn()
    let turns = FairTurns()
    /// How busy the loop is.
    var thread = ThreadTime()

    init(
        redis: RedisConnection, name: String, index: Int, log: Logger,
        notify: @escaping @Loop (Notice) -> Void
    ) {
        self.redis = redis
        self.name = name
        self.index = index
        self.log = log
        self.notify = notify
    }

    var mayStart: Bool { leaseClock.mayStart(at: BootClock.milliseconds) }
}
