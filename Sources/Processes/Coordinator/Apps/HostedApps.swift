import EventLoop
import FarmConfiguration
import FarmPolicy

/// The apps that this coordinator serves, by name.
@Loop final class HostedApps {
    private var apps: [String: HostedApp] = [:]
    private var dependencies: HostedApp.Dependencies?
    /// Apps that were added since the start.
    private var added = 0

    var all: Dictionary<String, HostedApp>.Values { apps.values }
    var names: Dictionary<String, HostedApp>.Keys { apps.keys }
    var sorted: [HostedApp] { apps.values.sorted { $0.name < $1.name } }
    /// Apps can be added.
    var isPrepared: Bool { dependencies != nil }
    /// This host has a lease of some app.
    var haveLeases: Bool { apps.values.contains(where: \.leases.held.isOwner) }
    /// Shards of all apps that are this host's.
    var ownedShards: Int { apps.values.reduce(0) { $0 + $1.leases.held.tokens.count } }
    /// Shards among them that other hosts should own.
    var strangers: Int { apps.values.reduce(0) { $0 + $1.leases.held.strangers } }

    subscript(name: String) -> HostedApp? { apps[name] }

    /// To be called once, before the first app is added.
    func prepare(_ dependencies: HostedApp.Dependencies) { self.dependencies = dependencies }

    /// The host has places for so many workers.
    func setWorkers(_ count: Int) {
        for app in apps.values { app.credentials.workers = count }
        dependencies?.workers = count
    }

    func add(_ configuration: AppConfiguration, shares: HostShares) -> HostedApp {
        guard var dependencies else {
            preconditionFailure("an app is added before the coordinator is prepared")
        }
        added += 1
        // A nonce of its own: what an app that was removed and added again releases late takes nothing from the new one.
        dependencies.nonce = "\(dependencies.nonce).\(added)"
        let app = HostedApp(configuration, shares: shares, dependencies)
        apps[configuration.name] = app
        return app
    }

    func remove(_ name: String) { apps[name] = nil }
}
