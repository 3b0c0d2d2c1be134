import FarmPolicy
import PushModel
package import StoreProtocol

/// Batches come from shards, and go back to shards that were withdrawn.
extension Window {
    /// Less credit than a batch's, or than the reserve, is not worth a call: each has its price in Redis, and so has each
    /// job in it. What bulk is due is worth one as well, and when no push of high priority is held, less will do.
    private static let worthwhileCredit = 256
    private static let smallestCredit = 64

    /// The next checkout, if one is worth it: one call under way at a time. To be answered by ``checkedOut(_:_:)``.
    ///
    /// - Parameter wantsMore: more could be sent.
    package func checkOut(wantsMore: Bool) -> Checkout? {
        guard !checkouts.isPending, reports.mayAsk(at: now) else { return nil }
        let search = checkouts.search(known: knownBatches, worker: worker)
        if let search { return search }
        guard wantsMore, mode == .sending else { return nil }
        return nextCheckout()
    }

    /// What is held goes first within its lane: it is older.
    private func nextCheckout() -> Checkout? {
        let most = max(1, min(Self.worthwhileCredit, credit.reserve))
        let mayAskForBulk = room(for: .bulk) >= most
        if isBulkDue, room(for: .bulk) >= min(most, CreditQueue.mostDue) {
            if askForCredit(of: .bulk) { return nil }
            if let call = checkout(.bulkOnly, credit: room(for: .bulk)) { return call }
        }
        let least = queues.hasWaiting(.high) ? most : min(most, Self.smallestCredit)
        guard room(for: .high) >= least, !askForCredit(of: .high) else { return nil }
        if mayAskForBulk, !credit.mayHave(.bulk) {
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
        held.values.filter { $0.ownership == .ours || $0.ownership == .goingBack }.map(\.id) + unreadable.keys
    }

    /// Redis has answered a checkout, or has not.
    package func checkedOut(_ request: Checkout, _ result: Result<Checkout.Reply, StoreError>) {
        checkouts.answered(request, result)
        guard case .success(let reply) = result else { return reports.pause(from: now) }
        for batch in reply.batches { accept(batch) }
        for shard in reply.fenced {
            guard let token = request.shards.first(where: { $0.number == shard })?.token else { continue }
            fenced(shard, token)
        }
        releaseShards()
    }

    package var isCheckingOut: Bool { checkouts.isPending }

    /// Finds batches that Redis assigns to this worker and that it does not hold.
    package func searchBatches() { checkouts.searchServed() }

    /// Where batches with pushes of these jobs are held.
    package func shards(of jobs: Set<String>) -> Set<Int> {
        var found: Set<Int> = []
        for batch in held.values where !found.contains(batch.shard) {
            let content = batch.batch
            if content.segments.indices.contains(where: { jobs.contains(content.jobID(of: $0)) }) {
                found.insert(batch.shard)
            }
        }
        return found
    }

    /// Tells which withdrawn shards have no held batches any more.
    func releaseShards() {
        guard !shards.leaving.isEmpty else { return }
        var busy: Set<Int> = []
        for batch in held.values { busy.insert(batch.shard) }
        for id in unreadable.keys { busy.insert(id.shard) }
        let empty = checkouts.takeEmpty(held: busy)
        if !empty.isEmpty { add(.released(empty)) }
    }

    /// A batch that cannot be sent: it is quarantined, with the reason.
    func quarantine(_ given: Checkout.Batch, reason: String) {
        let request = QuarantineBatch(
            token: shards.token(of: given.id.shard) ?? .none, worker: worker, batch: given.id,
            delivery: given.delivery, reason: reason)
        unreadable[request.batch] = request
        add(.quarantine(request))
    }

    /// Redis has quarantined a batch, or has not.
    package func quarantined(_ request: QuarantineBatch, _ result: Result<Bool, StoreError>) {
        let shard = request.batch.shard
        switch result {
        case .success: unreadable[request.batch] = nil
        case .failure(.fenced):
            // When only the token was out of date, the batch still bears our name.
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
