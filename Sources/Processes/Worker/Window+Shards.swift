import FarmPolicy
import FarmStore
import PushModel

/// Batches come from shards, and go back to shards that were withdrawn.
extension Window {
    /// Shards asked in one call, and batches taken at most: what keeps the script short.
    private static let shardsPerCall = 16
    private static let batchesPerCall = 8
    /// Less credit than a batch's, or than the reserve, is not worth a call: each has its price in Redis, and so has each
    /// job in it. What bulk is due is worth one as well, and when no message is left in hand, less will do.
    private static let worthwhileCredit = 256
    private static let smallestCredit = 64

    /// The next checkout, if one is worth it: one call under way at a time. To be answered by ``checkedOut(_:_:)``.
    ///
    /// - Parameter wantsMore: more could be sent.
    func checkOut(wantsMore: Bool) -> Checkout? {
        guard !isCheckingOut else { return nil }
        if let restEnd, now < restEnd {
            delay = min(delay ?? restEnd - now, restEnd - now)
            return nil
        }
        if let search = searchCall() { return begin(search) }
        guard wantsMore, mode == .sending else { return nil }
        return nextCall().map(begin)
    }

    /// What is in hand goes first within its lane: it is older.
    private func nextCall() -> Checkout? {
        let most = max(1, min(Self.worthwhileCredit, reserve))
        let mayAskForBulk = room(for: .bulk) >= most
        if isBulkDue, room(for: .bulk) >= min(most, Self.mostDue) {
            if askForCredit(of: .bulk) { return nil }
            if let call = call(.bulkOnly, credit: room(for: .bulk)) { return call }
        }
        let least = hasWaiting(.high) ? most : min(most, Self.smallestCredit)
        guard room(for: .high) >= least, !askForCredit(of: .high) else { return nil }
        if mayAskForBulk, !hasPartial(.bulk) { return call(.highFirst, credit: room(for: .bulk)) }
        if let call = call(.highOnly, credit: room(for: .high)) { return call }
        if mayAskForBulk { _ = askForCredit(of: .bulk) }
        return nil
    }

    private func call(_ lanes: Checkout.Lanes, credit: Int) -> Checkout? {
        guard !shards.isQuiet(lanes) else { return nil }
        var request = Checkout(
            worker: worker, credit: credit, maxBatches: Self.batchesPerCall,
            shards: shards.take(atMost: Self.shardsPerCall, lanes))
        request.lanes = lanes
        return request
    }

    private func begin(_ request: Checkout) -> Checkout {
        isCheckingOut = true
        checkingOut = Set(request.shards.map(\.number))
        checkoutCredit = request.credit
        tally.sum += checkoutCredit
        return request
    }

    /// Looks for batches that are stamped with our name and that we do not know of. It brings no credit: what they have
    /// been granted is unknown until it is answered.
    private func searchCall() -> Checkout? {
        guard !unsure.isEmpty else { return nil }
        let asked = unsure.sorted().compactMap { shard in shards.token(of: shard).map { (shard, $0) } }
        guard !asked.isEmpty else { return nil }
        return Checkout(
            worker: worker, credit: 0, maxBatches: Self.batchesPerCall,
            known: held.values.filter { $0.standing == .ours || $0.standing == .goingBack }.map(\.id)
                + unreadable.keys,
            shards: Array(asked.prefix(Self.shardsPerCall)))
    }

    func checkedOut(_ request: Checkout, _ result: Result<Checkout.Reply, StoreError>) {
        isCheckingOut = false
        checkingOut = []
        tally.sum -= checkoutCredit
        checkoutCredit = 0
        let asked = request.shards.map(\.number)
        switch result {
        case .failure:
            unsure.formUnion(asked)
            shards.ring(asked)
            rest()
        case .success(let reply):
            learn(reply, of: request.lanes)
            if request.known != nil {
                unsure.subtract(asked)
                shards.ring(asked)
            }
            for batch in reply.batches { accept(batch) }
            for shard in reply.fenced {
                guard let token = request.shards.first(where: { $0.number == shard })?.token else { continue }
                fenced(shard, token)
            }
            release()
        }
    }

    /// What a reply says about the batches that are still in Redis.
    private func learn(_ reply: Checkout.Reply, of lanes: Checkout.Lanes) {
        switch lanes {
        case .highOnly: shards.ring(reply.left, of: .high)
        case .bulkOnly: shards.ring(reply.left, of: .bulk)
        // The second lane was come to after the last of the first.
        case .highFirst where reply.batches.contains { $0.id.lane == .bulk }:
            shards.ring(reply.left, of: .bulk)
        case .highFirst: shards.ring(reply.left)
        }
    }

    /// Where batches with pushes of these jobs are in hand.
    func shards(of jobs: Set<String>) -> Set<Int> {
        var found: Set<Int> = []
        for batch in held.values where !found.contains(batch.shard) {
            let content = batch.batch
            if content.segments.indices.contains(where: { jobs.contains(content.jobID(of: $0)) }) {
                found.insert(batch.shard)
            }
        }
        return found
    }

    /// Tells of withdrawn shards of which nothing is left.
    func release() {
        guard !shards.leaving.isEmpty else { return }
        var busy = checkingOut.union(unsure)
        for batch in held.values { busy.insert(batch.shard) }
        for id in unreadable.keys { busy.insert(id.shard) }
        let empty = shards.leaving.keys.filter { !busy.contains($0) }.sorted()
        guard !empty.isEmpty else { return }
        for shard in empty { shards.released(shard) }
        actions.append(.released(empty))
    }

    // MARK: Unreadable batches

    /// A batch that cannot be sent: it is quarantined, with the reason.
    func park(_ given: Checkout.Batch, reason: String) {
        let token = shards.token(of: given.id.shard) ?? .none
        let park = Park(
            token: token, worker: worker, batch: given.id, delivery: given.delivery, reason: reason)
        unreadable[given.id] = park
        actions.append(.park(park))
    }

    func parked(_ park: Park, _ result: Result<Bool, StoreError>) {
        switch result {
        case .failure(.fenced) where shards.token(of: park.batch.shard) ?? park.token != park.token:
            var again = park
            again.token = shards.token(of: park.batch.shard) ?? park.token
            unreadable[park.batch] = again
            actions.append(.park(again))
        case .failure(.fenced):
            unreadable[park.batch] = nil
            fenced(park.batch.shard, park.token)
        case .success: unreadable[park.batch] = nil
        case .failure: delay = delay ?? .milliseconds(200)
        }
        release()
    }
}
