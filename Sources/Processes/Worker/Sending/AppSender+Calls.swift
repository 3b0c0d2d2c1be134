import ControlChannel
import Delivery
import EventLoop
import Logging
import StoreProtocol

#if FAILPOINTS
    import Failpoints
#endif

/// Makes the window's calls to Redis, handles the replies, and reacts to changes of the connection to Redis.
extension AppSender {
    /// Makes the calls that the window has requested, and notifies the coordinator of reports.
    func carryOut() {
        var hasReported = false
        for action in window.takeActions() {
            switch action {
            case .report(let call, let report):
                store.send(report) { [weak self] result in
                    self?.update { $0.reported(call, result) }
                    if case .failure(let error) = result { self?.note(error, "report failed") }
                    #if FAILPOINTS
                        if case .success(.taken(let state)) = result, state.isDone {
                            Failpoint.hit("batch.done")
                        }
                    #endif
                }
            case .putBack(let call, let putBack):
                store.send(putBack) { [weak self] result in self?.update { $0.putBack(call, result) } }
            case .quarantine(let request):
                context.log.error(
                    "batch quarantined",
                    metadata: ["batch": "\(request.batch)", "reason": "\(request.reason)"])
                store.send(request) { [weak self] result in
                    self?.update { $0.quarantined(request, result) }
                }
            case .repeated(let report):
                store.send(report) { [weak self] result in self?.update { $0.repeated(report, result) } }
            case .hasReported: hasReported = true
            case .released(let empty): shards.released(empty)
            case .fenced: context.onFenced(name)
            }
        }
        if hasReported { context.notify(.reported(app: name)) }
        if let delay = window.delay, !reportTimer.isRunning { reportTimer.start(after: delay) }
    }

    func reportsAreDue() {
        // Without a connection to Redis, no report can be sent. After the next connection to Redis, the worker sends
        // all reports.
        guard context.redis.isReady else { return }
        update { $0.reportDue() }
    }

    /// Handles a new connection to Redis.
    func reconnected(isOther: Bool) {
        window.now = .now
        window.shards.allMayHaveBatches()
        window.reconnected(isOther: isOther)
        suppressionLists.reconnected(isOther: isOther)
        schedule()
    }

    /// Finds batches that Redis assigns to this worker and that the worker does not hold.
    func searchBatches() {
        window.searchBatches()
        suppressionLists.readEnds()
        schedule()
    }

    /// Sends the reports of the last seconds again. Redis may have lost the reports, and another host that now owns a shard of
    /// this worker would send the pushes again.
    func repeatReports() {
        window.now = .now
        window.repeatAll()
    }

    func checkedOut(_ request: Checkout, _ result: Result<Checkout.Reply, StoreError>) {
        if case .failure(let error) = result { note(error, "checkout failed") }
        update { $0.checkedOut(request, result) }
        shards.returnLateBatches()
        guard case .success(let reply) = result else { return }
        followPauseInRedis(isPaused: reply.pauseReason != nil)
        #if FAILPOINTS
            for given in reply.batches {
                guard let batch = window.batch(given.id)?.batch else {
                    continue
                }
                for jobPart in batch.jobParts.indices {
                    Failpoint.hit("batch.read", of: batch.jobID(of: jobPart))
                }
            }
        #endif
    }

    /// Passes an event to the window. Resulting calls are made at the end of the turn.
    private func update(_ body: (DeliveryWindow) -> Void) {
        window.now = .now
        window.yieldsToSuspect = context.suspectTurn.isWanted
        body(window)
        context.suspectTurn.changed()
        schedule()
    }

    private func note(_ error: StoreError, _ what: Logger.Message) {
        context.log.debug(what, metadata: ["app": "\(name)", "error": "\(error)"])
    }
}
