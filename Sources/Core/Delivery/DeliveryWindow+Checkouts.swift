import FarmPolicy
import PushModel
package import StoreProtocol

/// Checks out batches of served shards, and releases withdrawn shards.
extension DeliveryWindow {
    /// The least credit for which a checkout is worth its cost, because each call, and each job in a call, costs time in Redis.
    /// The minimum is lower if the reserve is smaller or if bulk is due. While no batch of lane `high` is queued in this worker,
    /// `smallestCredit` is enough.
    private static let worthwhileCredit = 256
    private static let smallestCredit = 64

    /// Creates the next checkout if enough credit is free and no other checkout is in progress. The caller passes the reply to
    /// ``checkedOut(_:_:)``.
    ///
    /// - Parameter wantsMore: whether the worker could send more pushes than the window holds.
    package func checkOut(wantsMore: Bool) -> Checkout? {
        guard !checkouts.isPending, reports.mayAsk(at: now) else { return nil }
        let search = checkouts.search(known: knownBatches, worker: worker)
        if let search { return search }
        guard wantsMore, mode == .sending else { return nil }
        return nextCheckout()
    }

    /// In each lane, requests credit for held batches before it requests new batches, because held batches are older.
    private func nextCheckout() -> Checkout? {
        let most = max(1, min(Self.worthwhileCredit, credit.reserve))
        let mayAskForBulk = room(for: .bulk) >= most
        if isBulkDue, room(for: .bulk) >= min(most, CreditQueue.mostDue) {
            if askForCredit(of: .bulk) { return nil }
            if let call = checkout(.bulkOnly, credit: room(for: .bulk)) { return call }
        }
        let least = queues.hasWaiting(.high) ? most : min(most, Self.smallestCredit)
        guard room(for: .high) >= least, !askForCredit(of: .high) else { return nil }
        if mayAskForBulk, !credit.mayLackCredit(.bulk) {
            return checkout(.highFirst, credit: room(for: .bulk))
        }
        if let call = checkout(.highOnly, credit: room(for: .high)) { return call }
        if mayAskForBulk { _ = askForCredit(of: .bulk) }
        return nil
    }

    private func checkout(_ lanes: Checkout.Lanes, credit: Int) -> Checkout? {
        checkouts.checkout(lanes, credit: credit, worker: worker)
    }

    private var knownBatches: [BatchID] {
        held.values.filter { $0.ownership == .ours || $0.ownership == .returning }.map(\.id) + unreadable.keys
    }

    /// Handles the reply to a checkout, or its failure.
    package func checkedOut(_ request: Checkout, _ result: Result<Checkout.Reply, StoreError>) {
        checkouts.checkedOut(request, result)
        guard case .success(let reply) = result else { return reports.pause(from: now) }
        for batch in reply.batches { accept(batch) }
        for shard in reply.fenced {
            guard let token = request.shards.first(where: { $0.number == shard })?.token else { continue }
            fenced(shard, token)
        }
        releaseShards()
    }

    package var isCheckingOut: Bool { checkouts.isPending }

    /// Schedules a search for batches that Redis assigns to this worker and that the worker does not hold.
    package func searchBatches() { checkouts.searchServed() }

    /// Returns the shards that have a held batch with a push of one of `jobs`.
    package func shards(of jobs: Set<String>) -> Set<Int> {
        var found: Set<Int> = []
        for batch in held.values where !found.contains(batch.shard) {
            let content = batch.batch
            if content.jobParts.indices.contains(where: { jobs.contains(content.jobID(of: $0)) }) {
                found.insert(batch.shard)
            }
        }
        return found
    }

    /// Informs the coordinator which withdrawn shards have no held batches any more.
    func releaseShards() {
        guard !shards.leaving.isEmpty else { return }
        var busy: Set<Int> = []
        for batch in held.values { busy.insert(batch.shard) }
        for id in unreadable.keys { busy.insert(id.shard) }
        let empty = checkouts.takeEmpty(held: busy)
        if !empty.isEmpty { add(.released(empty)) }
    }

    /// Asks Redis to quarantine a batch that cannot be sent, with the reason.
    func quarantine(_ given: Checkout.Batch, reason: String) {
        let request = QuarantineBatch(
            token: shards.token(of: given.id.shard) ?? .none, worker: worker, batch: given.id,
            delivery: given.delivery, reason: reason)
        unreadable[request.batch] = request
        add(.quarantine(request))
    }

    /// Handles the reply to a quarantine request, or its failure.
    package func quarantined(_ request: QuarantineBatch, _ result: Result<Bool, StoreError>) {
        let shard = request.batch.shard
        switch result {
        case .success: unreadable[request.batch] = nil
        case .failure(.fenced):
            // If Redis refused only the old fencing token, the request is repeated with the new token.
            if let token = shards.token(of: shard), token != request.token {
                var again = request
                again.token = token
                unreadable[request.batch] = again
                add(.quarantine(again))
            } else {
                unreadable[request.batch] = nil
                fenced(shard, request.token)
            }
        case .failure: reports.retrySoon()
        }
        releaseShards()
    }
}
