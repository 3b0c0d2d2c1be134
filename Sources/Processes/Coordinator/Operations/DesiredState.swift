import EventLoop
import FarmPolicy
import StoreProtocol

/// The desired state, which operators set and Redis stores: the number of workers of each host, and the host of each
/// pinned shard.
@Loop final class DesiredState {
    private unowned let context: HostContext
    /// The number of workers that an operator has set; nil if the configured number applies.
    private(set) var scale: String?

    init(_ context: HostContext) { self.context = context }

    /// Reads the desired state and applies it.
    func apply() async {
        let desired: [String: String]
        do throws(RedisError) { desired = try await context.farmRedis.desired() } catch {
            return context.log.debug("cannot read the desired state", error: error)
        }
        followPins(desired)
        followScale(desired[scaleName])
    }

    /// Stores the number of workers that an operator has set; nil means the configured number.
    /// - Returns: whether Redis has stored the number. If not, the number applies only until this process next reads
    ///   the desired state from Redis.
    func setScale(_ scale: String?) async -> Bool {
        self.scale = scale
        return await store(scaleName, scale)
    }

    /// Pins a shard to this host.
    func pin(_ shard: Int, of app: String) async {
        _ = await store(Pins.name(app: app, shard: shard), context.host)
        await apply()
    }

    private var scaleName: String { "scale:" + context.host }

    private func store(_ name: String, _ value: String?) async -> Bool {
        do throws(RedisError) {
            try await context.farmRedis.desire(name, value)
            return true
        } catch {
            context.log.warning(
                "cannot save desired state in Redis", error: error, metadata: ["setting": "\(name)"])
            return false
        }
    }

    private func followScale(_ stored: String?) {
        guard stored != scale, !context.operationLock.isUnderWay else { return }
        scale = stored
        let desired = stored.flatMap { DesiredWorkers($0) }
        if stored != nil, desired == nil {
            context.logRefusedValue(at: "\(FarmKeys.desired) \(scaleName)", reason: DesiredWorkers.words)
        }
        context.scaling.set(desired ?? context.scaling.configured)
    }

    private func followPins(_ desired: [String: String]) {
        guard context.registration.setPins(Pins(desired)) else { return }
        for app in context.apps.all {
            context.registration.updateShares(of: app)
            context.handOver.handOverMisplaced(of: app)
        }
        context.leases.wake()
    }
}
