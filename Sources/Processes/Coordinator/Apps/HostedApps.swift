import EventLoop
import FarmConfiguration
import FarmPolicy

/// The apps that this coordinator serves, by name.
@Loop final class HostedApps {
    private var apps: [String: HostedApp] = [:]
    private var services: HostServices?
    /// Apps that were added since the start.
    private var added = 0

    var all: Dictionary<String, HostedApp>.Values { apps.values }
    var names: Dictionary<String, HostedApp>.Keys { apps.keys }
    var sorted: [HostedApp] { apps.values.sorted { $0.name < $1.name } }
    /// Apps can be added.
    var isPrepared: Bool { services != nil }
    /// This host has a lease of some app.
    var haveLeases: Bool { apps.values.contains(where: \.leases.held.isOwner) }
    /// Shards of all apps that are this host's.
    var ownedShards: Int { apps.values.reduce(0) { $0 + $1.leases.held.tokens.count } }
    /// Shards among them that other hosts should own.
    var strangers: Int { apps.values.reduce(0) { $0 + $1.leases.held.strangers } }

    subscript(name: String) -> HostedApp? { apps[name] }

    /// To be called once, before the first app is added.
    func prepare(_ services: HostServices) { self.services = services }

    /// The host has places for so many workers.
    func setWorkers(_ count: Int) {
        for app in apps.values { app.credentials.workers = count }
        services?.workers = count
    }

    func add(_ configuration: AppConfiguration, shares: HostShares) -> HostedApp {
        guard var services else {
            preconditionFailure("an app is added before the coordinator is prepared")
        }
        added += 1
        // A nonce of its own: what an app that was removed and added again releases late takes nothing from the new one.
        services.nonce = "\(services.nonce).\(added)"
        let app = HostedApp(configuration, shares: shares, services)
        apps[configuration.name] = app
        return app
    }

    func remove(_ name: String) { apps[name] = nil }
}

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
            for order in app.credentials.orders { slot.child.send(order) }
            parts.shards.assign(app, to: slot)
        }
    }
}
