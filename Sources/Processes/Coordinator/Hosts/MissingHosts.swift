import EventLoop
import FarmPolicy
import StoreProtocol

/// The hosts that have ended without leaving the registry, as the first of the living hosts sees them.
@Loop final class MissingHosts {
    private unowned let context: HostContext
    private(set) var names: [String] = []
    /// Apps of hosts that were lost within the last hour.
    private(set) var lostApps: Set<String> = []

    init(_ context: HostContext) { self.context = context }

    /// Reads which hosts are missing, and clears alerts whose app or host no longer exists. To be called every few seconds.
    func update() async {
        guard context.registration.isFirstHost, context.lifecycle.actsForHost else { return }
        do throws(RedisError) {
            // A line expires six seconds after its last heartbeat. A host that ends in order removes its line.
            let missing = try await context.registry.hosts().filter { $0.endsIn < .seconds(-3) }
            (names, lostApps) = (missing.map(\.name), Set(missing.flatMap(\.apps)))
            let hosts = context.registration.membership.hosts
            let present = Set(hosts.map(\.name))
            // A drained host names no apps, but still has them.
            let served = Set(hosts.flatMap(\.apps)).union(context.apps.names)
            for raised in try await context.registry.activeAlerts() {
                guard let alert = Alert(id: raised.id) else { continue }
                let isOrphan =
                    switch alert.scope {
                    case .app(let name): !served.contains(name)
                    case .host(let name): !present.contains(name)
                    case .farm: false
                    }
                if isOrphan {
                    context.alerts.clearOrphan(alert, raised, clock: context.redis.clock.milliseconds)
                }
            }
        } catch {
            // The next look is in a few seconds.
        }
    }
}
