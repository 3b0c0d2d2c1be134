import ControlChannel
import EventLoop
import FarmStore
import Logging
import PushModel

#if FAILPOINTS
    import Failpoints
#endif

/// Tells Redis what became of pushes: a whole batch at once when it is settled, else what there is every 20 ms.
@Loop final class Reporter {
    private unowned let sender: AppSender
    private var builder = ResultsBuilder()
    /// Batches with settled positions that wait for the timer.
    private var dirty: [HeldBatch] = []
    private lazy var timer = Timer { [unowned self] in reportDirty() }
    private static let interval = Duration.milliseconds(20)
    private static let retryInterval = Duration.milliseconds(200)

    init(_ sender: AppSender) { self.sender = sender }

    /// A position of the batch was settled.
    func settled(_ batch: HeldBatch) {
        if batch.isSettled || batch.isCareful && batch.inAir == 0 && !batch.hasNext {
            report(batch)
        } else {
            remember(batch, for: Self.interval)
        }
    }

    /// Reports what is settled, and asks for as much credit as there is.
    func report(_ batch: HeldBatch) {
        guard !batch.isReporting, let token = sender.shards.tokens[batch.shard] ?? FenceToken.none else {
            return
        }
        let free = sender.creditLimit - sender.exposure + batch.settled
        let mayAsk = sender.hold == nil && (batch.isCareful || !sender.context.solitude.isWanted)
        let wanted = mayAsk ? batch.wanted(room: max(0, free)) : batch.granted
        let report = batch.beginReport(&builder)
        guard report != nil || wanted > batch.granted else { return }
        let request = Report(
            token: token, worker: sender.context.name, batch: batch.id, delivery: batch.delivery,
            wanted: wanted,
            isFactsOnly: report?.areFacts ?? false, runs: report?.runs ?? PositionRuns(),
            entry: report?.entry ?? [])
        if report == nil { batch.beginAsking() }
        batch.asked = wanted - batch.granted
        sender.store.send(request) { [weak self] result in
            self?.finish(batch, result)
        }
    }

    /// Gives back a batch of which nothing is in the air.
    func putBack(_ batch: HeldBatch) {
        guard !batch.isReporting, let token = sender.shards.tokens[batch.shard] else { return }
        batch.beginAsking()
        let request = PutBack(
            token: token, worker: sender.context.name, batches: [(id: batch.id, delivery: batch.delivery)])
        sender.store.send(request) { [weak self] result in
            batch.reportFailed()
            switch result {
            case .success: self?.sender.forget(batch)
            case .failure: self?.again(batch)
            }
        }
    }

    private func reportDirty() {
        let batches = dirty
        dirty.removeAll(keepingCapacity: true)
        for batch in batches {
            batch.isDirty = false
            if sender.held[batch.number] === batch { report(batch) }
        }
        sender.returnIdleBatches()
    }

    private func remember(_ batch: HeldBatch, for delay: Duration) {
        guard !batch.isDirty else { return }
        batch.isDirty = true
        dirty.append(batch)
        if !timer.isRunning { timer.start(after: delay) }
    }

    private func again(_ batch: HeldBatch) {
        remember(batch, for: Self.retryInterval)
    }

    private func finish(_ batch: HeldBatch, _ result: Result<Report.Reply, StoreError>) {
        batch.asked = 0
        switch result {
        case .failure(let error):
            batch.reportFailed()
            sender.context.log.debug(
                "report failed", metadata: ["batch": "\(batch.id)", "error": "\(error)"])
            again(batch)
        case .success(.map(let map)):
            batch.reportRefused(map: map.positions)
            report(batch)
            if batch.isSettled, batch.settled == 0, !batch.isReporting { sender.forget(batch) }
        case .success(.stale):
            batch.reportFailed()
            batch.keepFinalFactsOnly()
            if batch.settled > 0 { report(batch) } else { sender.forget(batch) }
        case .success(.taken(let state)): taken(batch, state)
        }
    }

    private func taken(_ batch: HeldBatch, _ state: Report.State) {
        let hadResults = batch.reporting > 0
        batch.reportAccepted()
        if hadResults { sender.context.tell(.reported(app: sender.name)) }
        #if FAILPOINTS
            if state.isDone { Failpoint.hit("batch.done") }
        #endif
        guard !state.isDone, state.staleness == nil else { return sender.forget(batch) }
        batch.grant(upTo: state.granted)
        if batch.settled > 0 { settled(batch) }
        if sender.hold != nil { sender.returnIdleBatches() }
        sender.requeue(batch)
        sender.context.solitude.changed()
        sender.schedule()
    }
}

extension FenceToken {
    /// Proves nothing: with it facts are taken, decisions are not.
    fileprivate static var none: FenceToken? { FenceToken([]) }
}
