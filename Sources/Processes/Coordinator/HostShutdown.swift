import EventLoop
import Glibc

/// Shuts the coordinator down in order: first ends the intake, then ends the workers. Workers may finish their pushes
/// in flight and report the outcomes first.
@Loop final class HostShutdown {
    private unowned let context: HostContext
    /// How long workers may take to finish their pushes in flight.
    private(set) var gracePeriod = Duration.seconds(20)
    private var waiter: CheckedContinuation<Void, Never>?

    init(_ context: HostContext) { self.context = context }

    /// Begins the shutdown. A second call shortens the grace period.
    /// - Parameter failure: why the coordinator stops; nil for a signal or an operator.
    func stop(because failure: CoordinatorError? = nil) {
        let lifecycle = context.lifecycle
        guard !lifecycle.isStopping else {
            lifecycle.stop(because: failure)
            context.log.warning("second stop signal: the coordinator no longer waits for responses")
            return stopFast()
        }
        guard lifecycle.hasChildren else {
            // The coordinator still waits for Redis or for the host's name, so no work is in progress. The host's keys
            // stay in Redis until they expire.
            context.log.notice("coordinator stopped before it was ready")
            exit(0)
        }
        lifecycle.stop(because: failure)
        context.changes.signal()
        waiter?.resume()
        waiter = nil
    }

    /// Stops the host. Its workers send no further pushes, and wait at most two seconds for responses to the pushes in
    /// flight.
    func stopFast() {
        gracePeriod = .seconds(2)
        guard context.lifecycle.isStopping else { return stop() }
        for slot in context.fleet.slots { slot.child.finishSooner(within: gracePeriod) }
    }

    /// Waits until a stop is requested.
    func untilStopped() async {
        guard !context.lifecycle.isStopping else { return }
        await withCheckedContinuation { waiter = $0 }
    }

    /// Ends the intake and the workers in order, settles their reports, and releases the remaining leases.
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
