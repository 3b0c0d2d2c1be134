import EventLoop
import Glibc

/// Ends the coordinator's work in order: the intake first, then the workers, each when its results are reported.
@Loop final class HostShutdown {
    private unowned let context: HostContext
    /// How long workers may take to finish.
    private(set) var gracePeriod = Duration.seconds(20)
    private var waiter: CheckedContinuation<Void, Never>?

    init(_ context: HostContext) { self.context = context }

    /// Begins the end. A second call shortens the grace period.
    /// - Parameter failure: why, if not by a signal or an operator.
    func stop(because failure: CoordinatorError? = nil) {
        let lifecycle = context.lifecycle
        guard !lifecycle.isStopping else {
            lifecycle.stop(because: failure)
            context.log.warning("second stop signal: not waiting for responses any longer")
            return stopFast()
        }
        guard lifecycle.hasChildren else {
            // It waits for Redis, or for the host's name, and nothing is under way. What it has in Redis expires.
            context.log.notice("coordinator stopped before it was ready")
            exit(0)
        }
        lifecycle.stop(because: failure)
        context.changes.signal()
        waiter?.resume()
        waiter = nil
    }

    /// Starts no new push; responses of two seconds are still received and reported.
    func stopFast() {
        gracePeriod = .seconds(2)
        guard context.lifecycle.isStopping else { return stop() }
        for slot in context.fleet.slots { slot.child.finishSooner(within: gracePeriod) }
    }

    /// Waits for the order to stop.
    func untilStopped() async {
        guard !context.lifecycle.isStopping else { return }
        await withCheckedContinuation { waiter = $0 }
    }

    /// Ends the intake and the workers in order, settles what they reported, and releases what is left.
    func endChildren() async {
        await context.fleet.intake?.child.stop(within: min(gracePeriod, .seconds(5)))
        context.handOver.handOverEverything()
        let endings = context.fleet.slots.map { slot in
            Loop.task { await slot.child.stop(within: self.gracePeriod) }
        }
        for ending in endings { await ending.value }
        for app in context.apps.all {
            app.workerReported()
            await app.stop()
        }
        context.listener.close()
    }
}
