import EventLoop
import FarmConfiguration
import FarmPolicy
import StoreProtocol

/// Adds and removes the apps that this host serves, and finds an app by its name.
@Loop final class HostedApps {
    private unowned let context: HostContext
    private var apps: [String: HostedApp] = [:]
    private var shared: SharedAppContext?
    /// How many times an app was added since the start of this process.
    private var added = 0

    init(_ context: HostContext) { self.context = context }

    var all: Dictionary<String, HostedApp>.Values { apps.values }
    var names: Dictionary<String, HostedApp>.Keys { apps.keys }
    var sorted: [HostedApp] { apps.values.sorted { $0.name < $1.name } }
    /// Whether apps can be added.
    var isPrepared: Bool { shared != nil }
    /// Whether this host holds a lease of at least one app.
    var haveLeases: Bool { apps.values.contains(where: \.leases.machine.isOwner) }
    /// The number of shards that this host owns, summed over all apps.
    var ownedShards: Int { apps.values.reduce(0) { $0 + $1.leases.machine.fenceTokens.count } }
    /// The number of shards that this host owns although other hosts should own them, summed over all apps.
    var misplacedShards: Int { apps.values.reduce(0) { $0 + $1.leases.machine.misplacedShards } }

    subscript(name: String) -> HostedApp? { apps[name] }

    /// Creates what all apps share. Call this function once, after the predecessor's nonce is known and before the
    /// first app is added.
    func prepare() {
        var retention = Retention()
        retention.jobRecords = context.configuration.jobRecordsKept
        retention.jobRecordSeconds = Int(context.configuration.jobRecordLife.components.seconds)
        shared = SharedAppContext(
            redis: context.redis, host: context.host, shards: context.shardCount, log: context.log,
            retention: retention, workers: context.options.workers, nonce: context.nonce,
            predecessor: context.registration.predecessor,
            notifyWorkers: { [fleet = context.fleet] message in fleet.sendToWorkers(message) },
            notifyIntake: { [fleet = context.fleet] message in fleet.sendToIntake(message) },
            shardsReady: { [wakeUps = context.wakeUps] app, shards in wakeUps.note(shards, of: app) },
            notifyOneWorker: { [fleet = context.fleet] message in fleet.sendToOneWorker(message) },
            liveWorkers: { [fleet = context.fleet] in fleet.liveWorkers })
    }

    /// Tells all apps how many workers this host has.
    func setWorkers(_ count: Int) {
        for app in apps.values { app.credentials.workers = count }
        shared?.workers = count
    }

    func add(_ configuration: AppConfiguration) async {
        guard var shared else {
            preconditionFailure("an app is added before the coordinator is prepared")
        }
        added += 1
        // An app that is removed and added again gets another nonce. So if the removed app releases its leases late, it
        // does not release the leases that the added app has acquired.
        shared.nonce = "\(shared.nonce).\(added)"
        let shares = context.registration.membership.shares(of: configuration.name)
        let app = HostedApp(configuration, shares: shares, shared)
        apps[configuration.name] = app
        app.isQuiet = context.lifecycle.isQuiet
        app.onShardsChanged = { [unowned context, unowned app] in
            context.shards.assign(app)
            context.changes.signal()
        }
        await app.start()
        context.leases.renewSoon()
    }

    /// Hands the app's leases over, and removes the app.
    func remove(_ name: String) async {
        guard let app = apps[name] else { return }
        context.handOver.handOverEverything(of: app)
        let deadline = ContinuousClock.now + HandOver.timeout
        while app.leases.machine.isOwner, ContinuousClock.now < deadline {
            await app.releases.wait(atMost: deadline - .now)
        }
        context.leases.noteRemoval(of: app)
        apps[name] = nil
        context.shards.forget(name)
        context.fleet.sendToWorkers(.forget(app: name))
        await app.stop()
    }

    /// Sends the orders of an added app to the workers that already run.
    func introduceToWorkers(_ name: String) {
        guard let app = apps[name] else { return }
        for slot in context.fleet.readySlots {
            for message in app.credentials.messages { slot.child.send(message) }
            context.shards.assign(app, to: slot)
        }
    }
}
