import EventLoop
import FarmPolicy
import Logging
import RedisClient
import StoreProtocol

/// What the parts of one app share in a coordinator.
@Loop final class AppContext {
    let name: String
    let host: String
    let store: AppStore
    private let redis: RedisConnection
    let log: Logger
    /// Of the farm.
    let shards: Int
    var retention: Retention
    let retry: RetryPolicy
    /// Outcomes of the app's pushes that this host settled.
    let totals = AppTotals()

    /// Tells the workers of this host that shards have batches.
    var shardsReady: @Loop ([Int]) -> Void
    /// The guard has paused the app.
    var paused: @Loop () -> Void = {}
    /// Called when batches were delayed; the first is due then. ``Promoter`` sets it.
    var onDelayedBatches: @Loop (Duration) -> Void = { _ in }

    init(
        name: String, host: String, redis: RedisConnection, log: Logger, shards: Int,
        retention: Retention = Retention(), retry: RetryPolicy = RetryPolicy(),
        shardsReady: @escaping @Loop ([Int]) -> Void
    ) {
        (self.name, self.host, self.log, self.shards) = (name, host, log, shards)
        store = AppStore(app: name, connection: redis)
        self.redis = redis
        (self.retention, self.retry, self.shardsReady) = (retention, retry, shardsReady)
    }

    var keys: Keys { store.keys }
    /// Deadlines of pushes are held against it.
    var clock: RedisClock { redis.clock }
}
