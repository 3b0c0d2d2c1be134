import EventLoop
import Logging
import RedisClient
import StoreProtocol

/// Counts the stored devices of an app at times, while this host has the intake's lease.
@Loop final class RegistryCensus {
    /// The shortest time between two counts.
    private static let shortestWait = Duration.seconds(10)
    /// The time between two counts is at least this number of times as long as a count, so that a large registry does not keep
    /// the process busy.
    private static let rest = 20

    private let context: IntakeContext
    private let app: String
    private let log: Logger
    private var registry: RedisConnection
    private let work = LeasedTask {}
    /// The number of stored devices; nil before the first count.
    private(set) var stored: Int?
    /// The number of stored devices that can get pushes; nil before the first count.
    private(set) var alive: Int?

    /// - Parameter registry: the connection to the Redis with the app's registry.
    init(_ context: IntakeContext, app: String, registry: RedisConnection) {
        (self.context, self.app, self.registry) = (context, app, registry)
        var log = context.log
        log[metadataKey: "app"] = "\(app)"
        self.log = log
    }

    /// Whether the Redis with the app's registry is reachable.
    var isRegistryUp: Bool { registry.isReady }

    func start() {
        work.start { token throws(StoreError) in
            while self.work.mayServe(token) {
                let start = ContinuousClock.now
                try await self.count()
                let taken = start.duration(to: .now)
                await self.work.wait(atMost: max(Self.shortestWait, taken * Self.rest))
            }
        } recover: { error, _ in
            // An outage of the registry has its own log lines. Damaged bitmaps are the business of `pushfarm debug fsck`.
            self.log.debug("cannot count the stored devices", metadata: ["reason": "\(error)"])
            await self.work.wait(atMost: Self.shortestWait)
        }
    }

    func stop() async { await work.stop() }

    /// Uses this fencing token from now on; nil stops the counts.
    func setFenceToken(_ token: FenceToken?) { work.setFenceToken(token) }

    /// Counts the devices in another Redis from now on.
    func use(_ registry: RedisConnection) {
        guard registry !== self.registry else { return }
        (self.registry, stored, alive) = (registry, nil, nil)
    }

    private func count() async throws(StoreError) {
        let used = registry
        let reader = try await RegistryReader.open(app: app, connection: used)
        let partitions = try await reader.partitions()
        let today = Int(clamping: context.redis.clock.seconds / 86_400)
        let counts = try await reader.counts(of: [.all], today: today, partitions)
        guard used === registry else { return }
        stored = partitions.reduce(0) { $0.adding(saturating: $1.devices) }
        alive = counts[0]
    }
}
