package import EventLoop
import FarmConfiguration
import FarmPolicy
package import Logging
import RedisClient
import StoreProtocol
import Supervision

/// One host's coordinator: holds the leases, keeps intake and workers alive, settles what workers report.
///
/// It puts the parts together and runs them from the start to the end. Each part owns its state; ``Lifecycle`` says in which
/// phase the process is.
@Loop package final class HostCoordinator {
    private let context: HostContext
    private let parts: CoordinatorParts

    /// - Throws: a fault of the address of Redis.
    package init(_ options: Options, log: Logger) throws {
        context = try HostContext(options, log: log)
        parts = CoordinatorParts(context)
    }

    /// Runs until a signal or an operator ends it; everything is handed over in order.
    /// - Parameter onReady: called when the leases are asked for and the workers are started.
    package func run(onReady: @Loop () -> Void = {}) async throws {
        Loop.keep(self)
        parts.signals.install()
        parts.service.begin()
        warnOfOpenPermissions()
        let lock = try await acquireLock()
        let isSuccessor = context.lifecycle.nameHolder == .predecessor
        if !isSuccessor {
            await parts.operations.control.open()
            parts.metrics.open()
        }
        try await connectToRedis()
        try await registerHost(lock, isSuccessor: isSuccessor)
        await startApps()
        context.lifecycle.startChildren()
        let workers = parts.shards.placement.size
        parts.fleet.start(workers: workers)
        let routines = startRoutines()
        context.log.notice(
            "coordinator ready",
            metadata: ["host": "\(context.host)", "apps": "\(parts.apps.all.count)", "workers": "\(workers)"])
        if isSuccessor { try await parts.takeover.run(lock) }
        if context.lifecycle.nameHolder == .thisProcess {
            parts.service.ready()
            onReady()
        }
        await parts.shutdown.untilStopped()
        await shutDown()
        for routine in routines { routine.cancel() }
        await close()
        context.log.notice("coordinator stopped")
        if let failure = context.lifecycle.failure { throw failure }
    }

    // MARK: Start

    private func acquireLock() async throws -> HostLock {
        let lock: HostLock
        if context.options.succeeds {
            lock = HostLock(inherited: ControlDescriptor.child + 1, own: ControlDescriptor.child + 2)
        } else {
            lock = try await HostLock(
                path: context.configuration.stateDirectory + "/coordinator.lock", nonce: context.nonce,
                patience: .seconds(15)
            ) { context.log.notice("waiting for the predecessor's workers to exit") }
        }
        parts.upgrade.lock = lock
        parts.registration.predecessor = lock.predecessor
        if lock.hasOrphans {
            context.log.warning("the predecessor's workers do not exit: starting beside them")
        }
        return lock
    }

    /// Warns of settings that make a fault in this process, or a curious user, worse than need be.
    private func warnOfOpenPermissions() {
        if FileTrust.isRoot { context.log.warning("runs as root: a separate user is enough, and safer") }
        if let file = context.configuration.redisPasswordFile, FileTrust.isPublic(file) {
            context.log.warning(
                "every user of this machine can read Redis's password", metadata: ["file": "\(file)"])
        }
    }

    private func connectToRedis() async throws {
        let registry = context.registry
        context.redis.logOutages(to: context.log)
        context.redis.start()
        await context.redis.whenReady()
        try await context.retryWhileRedisIsAway { [context] in
            try await context.checkRedis()
            let apps = context.configuration.apps.map(\.name)
            try await registry.checkFormat(apps: apps)
            try await registry.fixShards(context.shards)
            try await registry.addApps(apps)
        }
    }

    private func registerHost(_ lock: HostLock, isSuccessor: Bool) async throws {
        parts.fleet.prepare(lock, parts.notices)
        if isSuccessor {
            await parts.registration.sendHeartbeat()
        } else {
            try await parts.registration.claimName()
        }
    }

    private func startApps() async {
        parts.prepareApps()
        for app in context.configuration.apps { await parts.hosting.add(app) }
        await parts.leases.renewAll()
        context.redis.onReady = { [unowned self] isOther in
            if isOther { context.log.notice("Redis was restarted or replaced") }
            parts.pressure.reconnected()
            parts.leases.renewSoon()
        }
        await parts.pressure.update(parts.apps.all)
        parts.listener.subscribe()
    }

    // MARK: Periodic work

    /// Starts the periodic work, which runs until the tasks are cancelled.
    private func startRoutines() -> [Task<Void, Never>] {
        let parts = parts
        let feedbackStart = ContinuousClock.now + .seconds(30)
        return [
            Loop.task { await parts.leases.run() },
            each(.seconds(1)) { await parts.registration.sendHeartbeat() },
            each(.seconds(1)) { await parts.pressure.update(parts.apps.all) },
            each(.seconds(2)) { for app in parts.apps.all { await app.credentials.refresh() } },
            each(.seconds(5)) { for app in parts.apps.all { await app.reclaimUnknownBatches() } },
            each(.seconds(5)) {
                // Announcements may have been lost.
                await parts.operations.read()
                await parts.desired.follow()
            },
            each(BacklogMonitor.interval) {
                await parts.backlog.update(of: parts.apps.all, isFirstHost: parts.registration.isFirstHost)
            },
            each(.seconds(1)) {
                // Workers that did not read their orders get them now.
                parts.wakeUps.send()
                parts.probe.ask()
                parts.alertObservations.evaluate()
            },
            each(.seconds(3)) { await parts.missingHosts.update() },
            each(.seconds(1)) { await parts.unknownApps.searchInboxes() },
            each(.seconds(5)) { await parts.unknownApps.forgetApps() },
            each(.seconds(1)) {
                // Without a worker a reading of the feedback service would count as failed. Workers take a moment to
                // start.
                guard parts.fleet.isAnyWorkerReady || ContinuousClock.now > feedbackStart else { return }
                for app in parts.apps.all { await app.readFeedbackIfDue() }
            },
            each(.seconds(600)) {
                for app in parts.apps.all {
                    await app.dropOldSuppressed()
                    await app.dropOldDeadLetters()
                }
            },
        ]
    }

    private func each(_ interval: Duration, _ body: @escaping @Loop () async -> Void) -> Task<Void, Never> {
        Loop.task {
            while (try? await Loop.sleep(for: interval)) != nil { await body() }
        }
    }

    // MARK: End

    private func shutDown() async {
        let lifecycle = context.lifecycle
        context.log.notice("coordinator stopping")
        // After a completed upgrade there are no children to end and no leases to release.
        guard lifecycle.nameHolder != .successor else {
            parts.operations.control.shut(isKept: true)
            return await answerOperators()
        }
        parts.service.stopping()
        parts.upgrade.hostStops()
        // Others learn first that this host takes nothing more, then of each shard as soon as it is free.
        if lifecycle.nameHolder == .thisProcess { await parts.registration.sendHeartbeatAndAnnounce() }
        await parts.shutdown.endChildren()
        await answerOperators()
        parts.operations.control.shut(isKept: lifecycle.nameHolder != .thisProcess)
        if lifecycle.nameHolder == .thisProcess { await parts.registration.leave() }
    }

    /// Waits until operators who stopped the host have their answers.
    private func answerOperators() async {
        context.lifecycle.childrenHaveEnded()
        context.changes.signal()
        await parts.operations.waitForAnswers()
    }

    private func close() async {
        parts.operations.control.close()
        parts.leases.wake()
        parts.metrics.close()
        await parts.alerts.close()
        context.redis.close()
    }
}
