import ControlChannel
import EventLoop
import FarmPolicy
import Logging
import RedisClient
import StoreProtocol

/// What all apps of a coordinator have in common.
struct HostServices {
    var redis: RedisConnection
    var host: String
    /// Of the farm.
    var shards: Int
    var log: Logger
    var retention = Retention()
    var retry = RetryPolicy()
    /// Workers of this host, which share what it may have of a gateway's connections.
    var workers = 1
    /// Fresh lease nonce, and the predecessor's nonce (empty if unknown).
    var nonce = ""
    var predecessor = ""
    var notifyWorkers: @Loop (Order) -> Void = { _ in }
    var notifyIntake: @Loop (IntakeOrder) -> Void = { _ in }
    /// Tells the workers of this host that shards have batches.
    var shardsReady: @Loop (_ app: String, _ shards: [Int]) -> Void = { _, _ in }
    /// Gives one worker an order; answers its name, nil if none is ready.
    var orderWorker: @Loop (Order) -> String? = { _ in nil }
    /// Names of the workers that may hold batches.
    var liveWorkers: @Loop () -> [String] = { [] }
}

/// What the parts of one app share in a coordinator.
@Loop final class AppContext {
    let name: String
    let services: HostServices
    let store: AppStore
    /// Names the app in every line.
    let log: Logger
    var retention: Retention
    /// Outcomes of the app's pushes that this host settled.
    let totals = AppTotals()

    /// Tells the workers of this host that shards have batches.
    var shardsReady: @Loop ([Int]) -> Void
    /// The guard has paused the app.
    var paused: @Loop () -> Void = {}
    /// Called when batches were delayed; the first is due then. ``Promoter`` sets it.
    var onDelayedBatches: @Loop (Duration) -> Void = { _ in }

    init(_ name: String, _ services: HostServices) {
        (self.name, self.services, retention) = (name, services, services.retention)
        store = AppStore(app: name, connection: services.redis)
        shardsReady = { services.shardsReady(name, $0) }
        var log = services.log
        log[metadataKey: "app"] = "\(name)"
        self.log = log
    }

    var host: String { services.host }
    /// Of the farm.
    var shards: Int { services.shards }
    var keys: Keys { store.keys }
    /// Deadlines of pushes are held against it.
    var clock: RedisClock { services.redis.clock }
}
