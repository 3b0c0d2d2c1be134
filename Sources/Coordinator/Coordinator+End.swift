import ControlChannel
import EventLoop
import FarmConfiguration
import FarmPolicy
import FarmStore
import Logging

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Signals, a configuration that changed, and the end.
extension Coordinator {
    func watchSignals() {
        signals = [SIGTERM, SIGINT].map { number in
            SignalWatcher(number) { [unowned self] in stop() }
        }
        signals.append(
            SignalWatcher(SIGHUP) { [unowned self] in
                let before = reloading
                reloading = Loop.task {
                    await before?.value
                    await self.reload()
                }
            })
    }

    func stop() {
        if isStopping {
            log.warning("told twice to stop: stopping at once")
            exit(1)
        }
        isStopping = true
        guard hasChildren else {
            // It waits for Redis, or for its turn, and nothing is under way. What is its own already ends by itself.
            log.notice("coordinator stopped before it was ready")
            exit(0)
        }
        stopping?.resume()
        stopping = nil
    }

    func untilStopped() async {
        guard !isStopping else { return }
        await withCheckedContinuation { stopping = $0 }
    }

    func reload() async {
        guard let around = surroundings, !isStopping else { return }
        let next: FarmConfiguration
        do { next = try options.reload() } catch {
            return log.error("the configuration is not changed", metadata: ["error": "\(error)"])
        }
        let changes = configuration.changes(to: next)
        if !changes.needRestart.isEmpty {
            log.warning(
                "some changes take effect at the next start",
                metadata: ["keys": "\(changes.needRestart.joined(separator: ", "))"])
        }
        configuration.apps = next.apps
        let removals = changes.removed.map { name in Loop.task { await self.remove(name) } }
        for removal in removals { await removal.value }
        guard !isStopping else { return }
        for app in next.apps {
            if changes.added.contains(app.name) {
                await add(app, around)
            } else if let present = apps[app.name] {
                await present.change(to: app)
            }
        }
        if !changes.added.isEmpty || !changes.removed.isEmpty { listen() }
        do throws(RedisError) { try await registry.addApps(next.apps.map(\.name)) } catch {
            log.warning("apps not registered", metadata: ["error": "\(error)"])
        }
        for slot in slots where slot.isReady {
            for name in changes.added { apps[name].map { introduce($0, to: slot) } }
        }
        // What kept them from starting may be mended.
        for slot in slots where slot.state == .failed { slot.retry() }
        log.notice("configuration read anew", metadata: ["apps": "\(apps.count)"])
    }

    func remove(_ name: String) async {
        guard let app = apps[name] else { return }
        handOverAll(app)
        let deadline = ContinuousClock.now + HandOver.patience
        while app.leases.isOwner, ContinuousClock.now < deadline {
            await app.releases.wait(atMost: deadline - .now)
        }
        apps[name] = nil
        hands.forget(name)
        for slot in slots { slot.tell(.forget(app: name)) }
        await app.stop()
    }

    private func handOverAll(_ app: HostedApp) {
        app.leases.handOverAll()
        letGo(app)
        leaseBell.ring()
    }

    func shutDown() async {
        log.notice("coordinator stopping")
        // Others learn first that this host takes nothing more, then each shard as soon as it is free.
        await beat()
        registry.tell(HostCommand.hosts.text)
        await intake?.stop(within: .seconds(5))
        for app in apps.values { handOverAll(app) }
        let endings = slots.map { slot in Loop.task { await slot.stop(within: .seconds(20)) } }
        for ending in endings { await ending.value }
        for app in apps.values {
            app.workerReported()
            await app.stop()
        }
        subscriber?.close()
        // The line ends by itself if this does not get through.
        try? await registry.leave(host: configuration.host, nonce: nonce)
        registry.tell(HostCommand.left(host: configuration.host).text)
    }
}
