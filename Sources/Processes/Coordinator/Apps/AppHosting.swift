import EventLoop
import FarmConfiguration
import FarmPolicy

/// Adds apps to this host and removes them.
@Loop final class AppHosting {
    private let context: HostContext
    private let apps: HostedApps
    private let fleet: WorkerFleet
    private let shards: ShardDistribution
    private let registration: HostRegistration
    private let leases: LeaseKeeper
    private let handOver: LeaseHandOver

    init(
        _ context: HostContext, _ apps: HostedApps, _ fleet: WorkerFleet, _ shards: ShardDistribution,
        _ registration: HostRegistration, _ leases: LeaseKeeper, _ handOver: LeaseHandOver
    ) {
        (self.context, self.apps, self.fleet, self.shards) = (context, apps, fleet, shards)
        (self.registration, self.leases, self.handOver) = (registration, leases, handOver)
    }

    func add(_ configuration: AppConfiguration) async {
        let shares = registration.membership.shares(of: configuration.name)
        let app = apps.add(configuration, shares: shares)
        app.isQuiet = context.lifecycle.isQuiet
        app.onShardsChanged = { [shards, context, unowned app] in
            shards.assign(app)
            context.changes.signal()
        }
        await app.start()
        leases.renewSoon()
    }

    /// Hands the app's leases over, and forgets the app.
    func remove(_ name: String) async {
        guard let app = apps[name] else { return }
        handOver.handOverEverything(of: app)
        let deadline = ContinuousClock.now + HandOver.timeout
        while app.leases.isOwner, ContinuousClock.now < deadline {
            await app.releases.wait(atMost: deadline - .now)
        }
        leases.noteRemoval(of: app)
        apps.remove(name)
        shards.forget(name)
        fleet.sendToWorkers(.forget(app: name))
        await app.stop()
    }

    /// Tells workers that run already of an app that was added.
    func introduceToWorkers(_ name: String) {
        guard let app = apps[name] else { return }
        for slot in fleet.readySlots {
            for order in app.credentials.orders { slot.send(order) }
            shards.assign(app, to: slot)
        }
    }
}
