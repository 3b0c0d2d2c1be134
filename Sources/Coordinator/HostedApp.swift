import ControlChannel
import EventLoop
import FarmConfiguration
import FarmStore
import Logging

/// Everything that this coordinator does for one app.
@Loop final class HostedApp {
    let store: AppStore
    let leases: AppLeases
    let credentials: AppCredentials
    private let desk: AppDesk
    private let intake: Intake
    private let gatherer: Gatherer
    private let promoter: Promoter
    private let log: Logger
    private var isSwept = false

    /// What all apps of a coordinator have in common.
    struct Surroundings {
        var redis: RedisConnection
        var redisSettings: RedisSettings
        var registry: FarmRegistry
        var host: String
        var shards: Int
        var nonce: String
        var predecessor: String
        var retention: Retention
        var log: Logger
        var tellWorkers: @Loop (Order) -> Void
        var ring: @Loop (_ app: String, _ shards: [Int]) -> Void
    }

    init(_ configuration: AppConfiguration, _ around: Surroundings) {
        let name = configuration.name
        log = around.log
        store = AppStore(app: name, connection: around.redis)
        leases = AppLeases(
            store, host: around.host, shards: around.shards, nonce: around.nonce,
            predecessor: around.predecessor, log: around.log)
        credentials = AppCredentials(
            configuration, store: store, registry: around.registry, log: around.log,
            tellWorkers: around.tellWorkers)
        desk = AppDesk(
            name: name, topic: configuration.topic, host: around.host, redis: around.redis, log: around.log,
            shards: around.shards, maxJobBytes: configuration.maxJobBytes, maxTokens: 100_000,
            retention: around.retention
        ) { around.ring(name, $0) }
        promoter = Promoter(desk)
        intake = Intake(desk, watch: around.redisSettings)
        gatherer = Gatherer(desk)
        desk.doubtLease = { [leases] in leases.doubt() }
    }

    var name: String { store.keys.app }

    /// - Parameter liveWorkers: names of the workers that may hold batches.
    func start(liveWorkers: [String]) async {
        await credentials.start()
        _ = await leases.keep()
        await sweep(liveWorkers: liveWorkers)
        leasesChanged()
        leases.onChange = { [unowned self] in leasesChanged() }
        intake.start()
        gatherer.start()
        promoter.start()
    }

    func change(to configuration: AppConfiguration) async {
        desk.topic = configuration.topic
        desk.maxJobBytes = configuration.maxJobBytes
        await credentials.change(to: configuration)
    }

    /// Takes nothing in any more.
    func stopIntake() async { await intake.stop() }

    /// Stops altogether and gives the leases back.
    func stop() async {
        await intake.stop()
        await gatherer.stop()
        await promoter.stop()
        await leases.leave()
    }

    /// Takes back what workers held that nobody knows any more: after a start, or when Redis went back in time.
    func sweep(liveWorkers: [String]) async {
        await reclaim(.allBut(liveWorkers), isCrash: false)
    }

    /// Takes back what a worker held that is gone.
    func reclaim(from worker: String, isCrash: Bool) async {
        await reclaim(.gone([worker]), isCrash: isCrash)
    }

    func workerReported() { gatherer.wake() }

    /// The shards of one worker, with their fences.
    func shards(where isHis: (Int) -> Bool) -> [Order.Shard] {
        leases.tokens.keys.sorted().filter(isHis).compactMap { shard in
            leases.tokens[shard].map { Order.Shard(number: UInt16(shard), fence: $0.bytes) }
        }
    }

    var onShardsChanged: @Loop () -> Void = {}

    private func leasesChanged() {
        desk.intakeToken = leases.intake
        intake.leaseChanged()
        onShardsChanged()
    }

    /// In portions, so that Redis is never held up.
    private func reclaim(_ workers: Reclaim.Workers, isCrash: Bool) async {
        let all = leases.tokens.sorted { $0.key < $1.key }.map { (number: $0.key, token: $0.value) }
        for start in stride(from: 0, to: all.count, by: 16) {
            let portion = Array(all[start..<min(start + 16, all.count)])
            do throws(StoreError) {
                let reply = try await store.performPatiently(
                    Reclaim(workers, isCrash: isCrash, shards: portion))
                if !reply.fenced.isEmpty { leases.doubt() }
                desk.ring(reply.rung)
                guard reply.putBack + reply.parked + reply.poisoned > 0 else { continue }
                log.notice(
                    "batches taken back",
                    metadata: [
                        "app": "\(name)", "batches": "\(reply.putBack)", "suspects": "\(reply.suspects)",
                        "parked": "\(reply.parked)",
                    ])
            } catch {
                log.error("cannot take batches back", metadata: ["app": "\(name)", "error": "\(error)"])
            }
        }
    }
}
