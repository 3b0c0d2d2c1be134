import EventLoop
import FarmConfiguration
import FarmPolicy

/// Adds apps to this host and removes them.
@Loop struct AppHosting {
    unowned let parts: CoordinatorParts

    private var context: HostContext { parts.context }

    func add(_ configuration: AppConfiguration) async {
        let shares = parts.registration.membership.shares(of: configuration.name)
        let app = parts.apps.add(configuration, shares: shares)
        app.isQuiet = context.lifecycle.isQuiet
        app.onShardsChanged = { [unowned parts, unowned app] in
            parts.shards.assign(app)
            parts.context.changes.signal()
        }
        await app.start()
        parts.leases.renewSoon()
    }

    /// Hands the app's leases over, and forgets the app.
    func remove(_ name: String) async {
        guard let app = parts.apps[name] else { return }
        parts.handOver.handOverEverything(of: app)
        let deadline = ContinuousClock.now + HandOver.timeout
        while app.leases.held.isOwner, ContinuousClock.now < deadline {
            await app.releases.wait(atMost: deadline - .now)
        }
        parts.leases.noteRemoval(of: app)
        parts.apps.remove(name)
        parts.shards.forget(name)
        parts.fleet.sendToWorkers(.forget(app: name))
        await app.stop()
    }

    /// Tells workers that run already of an app that was added.
    func introduceToWorkers(_ name: String) {
        guard let app = parts.apps[name] else { return }
        for slot in parts.fleet.readySlots {
            for order in app.credentials.orders { slot.send(order) }
            parts.shards.assign(app, to: slot)
        }
    }
}
