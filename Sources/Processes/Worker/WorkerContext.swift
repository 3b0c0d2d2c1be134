import ControlChannel
import Delivery
import EventLoop
import FarmPolicy
import Logging
import RedisClient

/// The objects and data that the parts of a worker share.
@Loop final class WorkerContext {
    let redis: RedisConnection
    /// The worker's name in Redis, unique for every process start.
    let name: String
    /// The worker's number on its host. The number spreads the workers over a gateway's addresses.
    let index: Int
    let log: Logger
    /// Sends a notice to the coordinator.
    let notify: @Loop (WorkerNotice) -> Void
    /// Called when Redis says that another host owns a shard that the coordinator has not withdrawn from this worker.
    var onFenced: @Loop (_ app: String) -> Void = { _ in }
    /// The time until which the coordinator's leases are valid, on the clock of ``BootClock``. The worker starts no
    /// push after this time.
    var sendDeadline = SendDeadline()
    let suspectTurn = SuspectPushTurn()
    let turns = FairTurns()
    /// Measures how busy the loop is.
    var thread = ThreadTime()

    init(
        redis: RedisConnection, name: String, index: Int, log: Logger,
        notify: @escaping @Loop (WorkerNotice) -> Void
    ) {
        self.redis = redis
        self.name = name
        self.index = index
        self.log = log
        self.notify = notify
    }

    var mayStart: Bool { sendDeadline.mayStart(at: BootClock.milliseconds) }
}
