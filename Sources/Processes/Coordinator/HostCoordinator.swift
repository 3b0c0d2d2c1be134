package import EventLoop
package import Logging
import Supervision

/// The coordinator of one host: holds the leases, keeps intake and workers alive, and settles workers' reports.
///
/// The coordinator connects its parts and runs them from start to end. Each part owns its state. ``Lifecycle``
/// knows the phase of the process.
@Loop package final class HostCoordinator {
    private let context: HostContext

    /// - Throws: if the address of Redis is invalid.
    package init(_ options: Options, log: Logger) throws {
        context = try HostContext(options, log: log)
    }

    /// Runs until a signal or an operator stops the coordinator, then shuts down in order.
    /// - Parameter onReady: called when the coordinator has requested leases and started the workers.
    package func run(onReady: @Loop () -> Void = {}) async throws {
        Loop.keep(self)
        context.signals.install()
        context.service.begin()
        warnOfOpenPermissions()
        let lock = try await acquireLock()
        let isSuccessor = context.lifecycle.nameHolder == .predecessor
        if !isSuccessor {
            await context.operations.control.open()
            context.metrics.open()
        }
        try await connectToRedis()
        try await registerHost(lock, isSuccessor: isSuccessor)
        await startApps()
        context.lifecycle.startChildren()
        let workers = context.shards.placement.size
        context.fleet.start(workers: workers)
        let routines = startRoutines()
        context.log.notice(
            "coordinator ready",
            metadata: [
                "host": "\(context.host)", "apps": "\(context.apps.all.count)", "workers": "\(workers)",
            ])
        if isSuccessor { try await context.predecessorUpgrade.run(lock) }
        if context.lifecycle.nameHolder == .thisProcess {
            context.service.ready()
            onReady()
        }
        await context.shutdown.untilStopped()
        await shutDown()
        for routine in routines { routine.cancel() }
        await close()
        context.log.notice("coordinator stopped")
        if let failure = context.lifecycle.failure { throw failure }
    }

    // MARK: Start

    private func acquireLock() async throws -> HostLock {
        let lock: HostLock
        if context.options.isSuccessor {
            lock = HostLock(inherited: ControlDescriptor.child + 1, own: ControlDescriptor.child + 2)
        } else {
            lock = try await HostLock(
                path: context.configuration.stateDirectory + "/coordinator.lock", nonce: context.nonce,
                timeout: .seconds(15)
            ) { context.log.notice("waiting for the predecessor's workers to exit") }
        }
        context.upgrade.lock = lock
        context.registration.predecessor = lock.predecessor
        if lock.hasOrphans {
            context.log.warning("the predecessor's workers do not exit: starting new workers now")
        }
        return lock
    }

    /// Logs a warning if other users can read Redis's password, and a warning if this process runs as root, because a
    /// fault in a process of root can do more harm.
    private func warnOfOpenPermissions() {
        if FileTrust.isRoot {
            context.log.warning("running as root: a separate user is sufficient and safer")
        }
        if let file = context.configuration.redisPasswordFile, FileTrust.isPublic(file) {
            context.log.warning(
                "every user of this machine can read Redis's password", metadata: ["file": "\(file)"])
        }
    }

    private func connectToRedis() async throws {
        let farmRedis = context.farmRedis
        context.redis.logOutages(to: context.log)
        context.redis.start()
        await context.redis.whenReady()
        try await context.retryWhileRedisIsAway { [context] in
            try await context.checkRedis()
            let apps = context.configuration.apps.map(\.name)
            try await farmRedis.checkFormat(apps: apps)
            try await farmRedis.fixShards(context.shardCount)
            try await farmRedis.addApps(apps)
        }
    }

    private func registerHost(_ lock: HostLock, isSuccessor: Bool) async throws {
        context.fleet.prepare(lock, context.notices)
        if isSuccessor {
            await context.registration.sendHeartbeat()
        } else {
            try await context.registration.claimName()
        }
    }

    private func startApps() async {
        context.apps.prepare()
        for app in context.configuration.apps { await context.apps.add(app) }
        await context.leases.renewAll()
        context.redis.onReady = { [unowned self] isOther in
            if isOther { context.log.notice("Redis was restarted or replaced") }
            context.admission.reconnected()
            context.leases.renewSoon()
        }
        await context.admission.update(context.apps.all)
        context.listener.subscribe()
    }

    // MARK: Periodic work

    /// Starts the periodic work, which runs until the tasks are cancelled.
    private func startRoutines() -> [Task<Void, Never>] {
        let context = context
        let feedbackStart = ContinuousClock.now + .seconds(30)
        return [
            Loop.task { await context.leases.run() },
            each(.seconds(1)) { await context.registration.sendHeartbeat() },
            each(.seconds(1)) { await context.admission.update(context.apps.all) },
            each(.seconds(2)) { for app in context.apps.all { await app.credentials.refresh() } },
            each(.seconds(5)) { for app in context.apps.all { await app.reclaim.reclaimUnknownBatches() } },
            each(.seconds(5)) {
                // The wake-up for an operator's command or for a change of the desired state may have been lost, so
                // read both from Redis.
                await context.operations.read()
                await context.desired.apply()
            },
            each(BacklogMonitor.interval) {
                await context.backlog.update(
                    of: context.apps.all, isFirstHost: context.registration.isFirstHost)
            },
            each(.seconds(1)) {
                // Some workers may have been too slow to get their wake-ups earlier, so send these wake-ups again.
                context.wakeUps.send()
                context.probe.ask()
                context.alertObservations.evaluate()
            },
            each(.seconds(3)) { await context.missingHosts.update() },
            each(.seconds(1)) { await context.unknownApps.searchInboxes() },
            each(.seconds(5)) { await context.unknownApps.forgetApps() },
            each(.seconds(1)) {
                // A worker reads the feedback service. Without a ready worker the reading would count as failed, so
                // wait up to 30 seconds for a worker.
                guard context.fleet.isAnyWorkerReady || ContinuousClock.now > feedbackStart else { return }
                for app in context.apps.all { await app.readFeedbackIfDue() }
            },
            each(.seconds(600)) {
                for app in context.apps.all {
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
        // After a completed upgrade, this process has no children and no leases, so only operators' replies are left to
        // send.
        guard lifecycle.nameHolder != .successor else {
            context.operations.control.shut(isKept: true)
            return await finishOperations()
        }
        context.service.stopping()
        context.upgrade.hostStops()
        // First tell the other hosts that this host takes no new work. Each shard that becomes free during the shutdown
        // is announced separately.
        if lifecycle.nameHolder == .thisProcess { await context.registration.sendHeartbeatAndAnnounce() }
        await context.shutdown.endChildren()
        await finishOperations()
        context.operations.control.shut(isKept: lifecycle.nameHolder != .thisProcess)
        if lifecycle.nameHolder == .thisProcess { await context.registration.leave() }
    }

    /// Waits until the operators' commands that still run, for example the command to stop the host, have sent their
    /// replies.
    private func finishOperations() async {
        context.lifecycle.childrenHaveEnded()
        context.changes.signal()
        await context.operations.waitForReplies()
    }

    private func close() async {
        context.operations.control.close()
        context.leases.wake()
        context.metrics.close()
        await context.alerts.close()
        context.redis.close()
    }
}
