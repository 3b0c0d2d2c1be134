import EventLoop
import FarmPolicy
import FarmStore
import Logging

/// What the parts of one app share in a coordinator.
@Loop final class AppDesk {
    let name: String
    /// The app's own topic.
    var topic: String
    let host: String
    let redis: RedisConnection
    let store: AppStore
    let log: Logger
    /// Of the farm.
    let shards: Int
    /// A longer job is refused unread.
    var maxJobBytes: Int
    /// Tokens, or pushes, of one job.
    var maxTokens: Int
    let retention: Retention
    let retry: RetryPolicy

    /// Proof that the intake is ours; nil when it is not.
    var intakeToken: FenceToken?
    /// Tells the workers of this host that shards have batches.
    var ring: @Loop ([Int]) -> Void
    /// Batches were put off; the first is due then. ``Promoter`` listens.
    var putOff: @Loop (Duration) -> Void = { _ in }
    /// Redis said that the intake has another owner.
    var doubtLease: @Loop () -> Void = {}

    init(
        name: String, topic: String, host: String, redis: RedisConnection, log: Logger, shards: Int,
        maxJobBytes: Int, maxTokens: Int, retention: Retention = Retention(),
        retry: RetryPolicy = RetryPolicy(),
        intakeToken: FenceToken? = nil, ring: @escaping @Loop ([Int]) -> Void
    ) {
        (self.name, self.topic, self.host, self.redis, self.log) = (name, topic, host, redis, log)
        store = AppStore(app: name, connection: redis)
        (self.shards, self.maxJobBytes, self.maxTokens) = (shards, maxJobBytes, maxTokens)
        (self.retention, self.retry) = (retention, retry)
        (self.intakeToken, self.ring) = (intakeToken, ring)
    }

    var keys: Keys { store.keys }
}
