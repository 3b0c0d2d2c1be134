import EventLoop
import FarmPolicy
import StoreProtocol

/// Finds hosts that ended without removing their entries from the hosts hash. Only the first live host searches.
@Loop final class MissingHosts {
    private unowned let context: HostContext
    private(set) var names: [String] = []
    /// Apps of hosts that were lost within the last hour.
    private(set) var lostApps: Set<String> = []

    init(_ context: HostContext) { self.context = context }

    /// Finds missing hosts, and clears alerts whose app or host no longer exists. Call it every few seconds.
    func update() async {
        guard context.registration.isFirstHost, context.lifecycle.actsForHost else { return }
        do throws(RedisError) {
            // A heartbeat entry expires six seconds after its last heartbeat. A host that shuts down normally removes
            // its entry, so an expired entry belongs to a failed host.
            let missing = try await context.farmRedis.hosts().filter { $0.endsIn < .seconds(-3) }
            (names, lostApps) = (missing.map(\.name), Set(missing.flatMap(\.apps)))
            let hosts = context.registration.membership.hosts
            let present = Set(hosts.map(\.name))
            // A drained host lists no apps in the hosts hash, so the apps of this host are added here: their alerts must stay.
            let served = Set(hosts.flatMap(\.apps)).union(context.apps.names)
            for raised in try await context.farmRedis.activeAlerts() {
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
            // After an error, the next call tries again a few seconds later.
        }
    }
}
