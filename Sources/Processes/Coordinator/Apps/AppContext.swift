import ControlChannel
import EventLoop
import FarmPolicy
import Logging
import RedisClient
import StoreProtocol

/// The settings and callbacks that all apps of a coordinator share.
struct SharedAppContext {
    var redis: RedisConnection
    var host: String
    /// The farm's number of shards.
    var shards: Int
    var log: Logger
    var retention = Retention()
    var retry = RetryPolicy()
    /// The number of workers of this host. The workers share the host's connections to a gateway.
    var workers = 1
    /// The nonce of this coordinator's leases. Every coordinator process has a different nonce.
    var nonce = ""
    /// The nonce of the predecessor's leases; empty if the predecessor is unknown.
    var predecessor = ""
    var notifyWorkers: @Loop (WorkerMessage) -> Void = { _ in }
    var notifyIntake: @Loop (IntakeMessage) -> Void = { _ in }
    /// Notifies the workers of this host that shards have batches.
    var shardsReady: @Loop (_ app: String, _ shards: [Int]) -> Void = { _, _ in }
    /// Sends a message to a worker that is ready, and returns the worker's name; nil if no worker is ready.
    var notifyOneWorker: @Loop (WorkerMessage) -> String? = { _ in nil }
    /// Names of the workers that may have checked out batches.
    var liveWorkers: @Loop () -> [String] = { [] }
}

/// The state and services that all parts of a coordinator's work for one app share.
@Loop final class AppContext {
    let name: String
    let shared: SharedAppContext
    let store: AppRedis
    /// A logger that adds the app's name to every line.
    let log: Logger
    var retention: Retention
    /// Outcomes of the app's pushes that this host settled.
    let totals = AppTotals()

    /// Notifies the workers of this host that shards of the app have batches.
    var shardsReady: @Loop ([Int]) -> Void
    /// Called when the guard has paused the app.
    var paused: @Loop () -> Void = {}
    /// Called when batches were delayed, with the time until the first batch is due. ``Promoter`` sets this callback.
    var onDelayedBatches: @Loop (Duration) -> Void = { _ in }

    init(_ name: String, _ shared: SharedAppContext) {
        (self.name, self.shared, retention) = (name, shared, shared.retention)
        store = AppRedis(app: name, connection: shared.redis)
        shardsReady = { shared.shardsReady(name, $0) }
        var log = shared.log
        log[metadataKey: "app"] = "\(name)"
        self.log = log
    }

    var host: String { shared.host }
    /// The farm's number of shards.
    var shards: Int { shared.shards }
    var keys: Keys { store.keys }
    /// Redis's clock, which decides whether the deadline of a push has passed.
    var clock: RedisClock { shared.redis.clock }
}
