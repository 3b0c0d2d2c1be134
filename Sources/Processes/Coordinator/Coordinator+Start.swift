import ControlChannel
import EventLoop
import FarmConfiguration
import FarmStore
import Logging
import Supervision

/// What a coordinator is put together of.
extension Coordinator {
    func hostLock() async throws -> HostLock {
        if options.succeeds {
            return HostLock(inherited: ControlDescriptor.child + 1, own: ControlDescriptor.child + 2)
        }
        return try await HostLock(
            path: configuration.stateDirectory + "/coordinator.lock", nonce: nonce, patience: .seconds(15)
        ) { log.notice("waiting for the workers of the coordinator before") }
    }

    /// What makes a fault in this process, or a curious user, worse than it need be.
    func warnOfOpenDoors() {
        if FileTrust.isRoot { log.warning("runs as root: a user of its own is enough, and safer") }
        if let file = configuration.redisPasswordFile, FileTrust.isPublic(file) {
            log.warning("every user of this machine can read Redis's password", metadata: ["file": "\(file)"])
        }
    }

    func makeSlots(_ lock: HostLock) {
        let launch = ChildLaunch(
            program: options.program, lock: lock.descriptor, environment: options.environment)
        self.launch = launch
        intake = IntakeSlot(host: configuration.host, launch: launch, owner: self, log: log)
        slots = (0..<options.workers).map { index in
            WorkerSlot(index: index, host: configuration.host, launch: launch, owner: self, log: log)
        }
    }

    func makeSurroundings() -> HostedApp.Dependencies {
        var retention = Retention()
        retention.accounts = configuration.accountsKept
        retention.accountSeconds = Int(configuration.accountLife.components.seconds)
        return HostedApp.Dependencies(
            redis: redis, registry: registry, host: configuration.host,
            shards: configuration.shards, workers: options.workers, nonce: nonce, predecessor: predecessor,
            retention: retention,
            log: log,
            tellWorkers: { [unowned self] order in for slot in slots { slot.tell(order) } },
            tellIntake: { [unowned self] order in intake?.tell(order) },
            ring: { [unowned self] app, shards in ring(app, shards) },
            orderWorker: { [unowned self] order in
                guard let slot = slots.first(where: \.isReady) else { return nil }
                slot.tell(order)
                return slot.name
            },
            liveWorkers: { [unowned self] in liveWorkers })
    }

    func add(_ configuration: AppConfiguration, _ around: HostedApp.Dependencies) async {
        added += 1
        // Of its own: what an app that was taken out and is back gives up late takes nothing from the new one.
        var around = around
        around.nonce = "\(nonce).\(added)"
        let app = HostedApp(configuration, shares: membership.shares(of: configuration.name), around)
        app.isQuiet = isQuiet
        apps[configuration.name] = app
        app.onShardsChanged = { [unowned self, unowned app] in
            for slot in slots where slot.isReady { assign(app, to: slot) }
            changes.ring()
        }
        await app.start()
        renewSoon()
    }
}
