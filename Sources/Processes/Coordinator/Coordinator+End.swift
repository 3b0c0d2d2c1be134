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

/// Apps that are taken out, and the end.
extension Coordinator {
    func stop() {
        if isStopping {
            log.warning("told twice to stop: answers are waited for no longer")
            return stopFast()
        }
        isStopping = true
        changes.ring()
        guard hasChildren else {
            // It waits for Redis, or for its turn, and nothing is under way. What is its own already ends by itself.
            log.notice("coordinator stopped before it was ready")
            exit(0)
        }
        stopping?.resume()
        stopping = nil
    }

    /// No new pushes; the answers of two seconds are still heard and reported.
    func stopFast() {
        patience = .seconds(2)
        guard isStopping else { return stop() }
        for slot in slots { slot.hurry(patience) }
    }

    func untilStopped() async {
        guard !isStopping else { return }
        await withCheckedContinuation { stopping = $0 }
    }

    func remove(_ name: String) async {
        guard let app = apps[name] else { return }
        handOverAll(app)
        let deadline = ContinuousClock.now + HandOver.patience
        while app.leases.isOwner, ContinuousClock.now < deadline {
            await app.releases.wait(atMost: deadline - .now)
        }
        leasesLostBefore += app.leases.lost
        apps[name] = nil
        assignments.forget(name)
        for slot in slots { slot.tell(.forget(app: name)) }
        await app.stop()
    }

    func handOverAll(_ app: HostedApp) {
        app.leases.handOverAll()
        letGo(app)
        leaseBell.ring()
    }

    func shutDown() async {
        log.notice("coordinator stopping")
        // After a completed upgrade there are no leases to release.
        guard !isSucceeded else {
            control.shut(isKept: true)
            return await answerAll()
        }
        service.stopping()
        successor?.abort()
        // Others learn first that this host takes nothing more, then each shard as soon as it is free.
        if !isUnseated {
            await beat()
            registry.tell(HostCommand.hosts.text)
        }
        await endChildren()
        await answerAll()
        control.shut(isKept: isUnseated)
        guard !isUnseated else { return }
        // The line ends by itself if this does not get through.
        hasLeft = true
        try? await registry.leave(host: configuration.host, nonce: nonce)
        registry.tell(HostCommand.left(host: configuration.host).text)
    }

    /// Answers the operators that asked for the end.
    private func answerAll() async {
        hasFinished = true
        changes.ring()
        _ = await changes.until(.now + .seconds(5)) { [unowned self] in operations.underWay.isEmpty }
    }

    /// Ends intake and workers in order, settles what they reported, and gives back what is left.
    func endChildren() async {
        await intake?.stop(within: min(patience, .seconds(5)))
        for app in apps.values { handOverAll(app) }
        let endings = slots.map { slot in Loop.task { await slot.stop(within: self.patience) } }
        for ending in endings { await ending.value }
        for app in apps.values {
            app.workerReported()
            await app.stop()
        }
        subscriber?.close()
    }
}
