// Stand-ins that the intake, the gatherer and the promoter replace.
import EventLoop
import FarmStore
import Logging
@Loop final class AppDesk {
    var topic: String; var maxJobBytes: Int; var intakeToken: FenceToken?
    let ring: @Loop ([Int]) -> Void
    init(store: AppStore, log: Logger, host: String, shards: Int, topic: String, maxJobBytes: Int, retention: Retention, ring: @escaping @Loop ([Int]) -> Void) { self.topic = topic; self.maxJobBytes = maxJobBytes; self.ring = ring }
}
@Loop final class Promoter { init(_ d: AppDesk) {}; func start() {}; func stop() async {} }
@Loop final class Intake { init(_ d: AppDesk, promoter: Promoter, redis: RedisSettings) {}; func start() {}; func stop() async {}; func leaseChanged() {} }
@Loop final class Gatherer { init(_ d: AppDesk, promoter: Promoter) {}; func start() {}; func stop() async {}; func wake() {} }
