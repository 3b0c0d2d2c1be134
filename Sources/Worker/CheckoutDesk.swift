import ControlChannel
import EventLoop
import FarmPolicy
import FarmStore
import Logging

/// Gets batches from Redis when there is credit for them: one call under way at a time.
@Loop final class CheckoutDesk {
    private unowned let sender: AppSender
    private(set) var isBusy = false
    /// An answer was lost: batches may be stamped with our name that we do not know of.
    private var hasLostAnswer = false

    /// Shards asked in one call, and batches taken at most: what keeps the script short.
    private static let shardsPerCall = 16
    private static let batchesPerCall = 8
    /// High before bulk, but bulk is never starved.
    private var lanes = LaneShare()

    /// Less credit than this is not worth a call while there is something to send.
    private static let smallestCredit = 64

    init(_ sender: AppSender) { self.sender = sender }

    func checkOut() {
        let credit = sender.creditLimit - sender.exposure
        guard credit >= Self.smallestCredit else { return }
        // What is in hand goes first: it is older.
        guard !sender.askForCredit() else { return }
        guard !isBusy, !sender.shards.isQuiet, sender.context.redis.isReady else { return }
        isBusy = true
        let shards = sender.shards.take(atMost: Self.shardsPerCall)
        var request = Checkout(
            worker: sender.context.name, credit: credit, maxBatches: Self.batchesPerCall,
            known: hasLostAnswer ? sender.held.values.map(\.id) : nil, shards: shards)
        request.lane = lanes.next(highWaits: true, bulkWaits: true) ?? .high
        sender.store.send(request) { [weak self] result in
            self?.finish(result)
        }
    }

    private func finish(_ result: Result<Checkout.Reply, StoreError>) {
        isBusy = false
        switch result {
        case .failure(let error):
            hasLostAnswer = true
            sender.shards.ringAll()
            sender.context.log.debug(
                "checkout failed", metadata: ["app": "\(sender.name)", "error": "\(error)"])
        case .success(let reply):
            sender.shards.ring(reply.left)
            if !reply.fenced.isEmpty { sender.context.tell(.fenced(app: sender.name)) }
            for batch in reply.batches { sender.accept(batch) }
            // All shards were rung after the loss; when each has answered, nothing unknown is left.
            if sender.shards.isQuiet { hasLostAnswer = false }
            if reply.pauseReason != nil { sender.pause() } else { sender.schedule() }
        }
    }
}
