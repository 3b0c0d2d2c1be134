import StoreProtocol

@testable import RedisClient
@testable import StoreProtocol
@testable import Worker

/// A fault put into the window's logic on purpose: the simulation must notice it.
///
/// Not here, because it is no fault: to go on with a credit that Redis has forgotten. The report that asks a Redis that
/// went back for its map names the old credit, and so restores it. Nor outcomes dropped after a batch went stale: its new
/// holder finds another, so the books close all the same; `LostOwnershipTests` looks for the duplicates.
struct WindowMutant: Sendable, CustomStringConvertible {
    let description: String
    let make: @Sendable (ContinuousClock.Instant) -> Window

    private init(_ description: String, _ batch: HeldBatch.Type) {
        self.description = description
        make = { BreakingWindow(batch, now: $0) }
    }

    private init(_ description: String, _ make: @escaping @Sendable (ContinuousClock.Instant) -> Window) {
        self.description = description
        self.make = make
    }

    static let all = [
        WindowMutant("sends of a batch that is somebody else's", SendsStale.self),
        WindowMutant("sends before it has compared its map with a Redis that went back", SendsDoubted.self),
        WindowMutant("takes more credit than it was given", GrantsMore.self),
        WindowMutant("does not tell again what Redis has forgotten", ForgetsToRepeat.self),
        WindowMutant("sends again what it knew of a batch that it had before", RecallsNothing.self),
        WindowMutant("lets a stale batch go with pushes in flight", ForgetsStale.self),
        WindowMutant("sends of a batch that it is giving back", SendsGoingBack.self),
        WindowMutant("begins again when a batch comes back into its hands", BeginsAnew.self),
        WindowMutant("keeps a batch that Redis has ended", NeverEnds.self),
        WindowMutant("asks for more credit than there is room for", AsksForMore.self),
        WindowMutant("leaves the exposure of batches that it let go", LeavesExposure.self),
        WindowMutant("takes what is in flight for open", ResendsInAir.self),
        WindowMutant("remembers nothing of batches that are done") { RinglessWindow(worker: "w", now: $0) },
        WindowMutant("goes on sending of withdrawn shards") { DeafWindow(worker: "w", now: $0) },
        WindowMutant("holds a batch twice") { DoubleWindow(worker: "w", now: $0) },
        WindowMutant("gives nothing back") { GreedyWindow(worker: "w", now: $0) },
    ]
}

private final class BreakingWindow: Window {
    private let type: HeldBatch.Type
    override var batchType: HeldBatch.Type { type }

    init(_ type: HeldBatch.Type, now: Instant) {
        self.type = type
        super.init(worker: "w", now: now)
    }
}

private final class SendsStale: HeldBatch {
    override var maySend: Bool { !isHalted && !mustCompare }
}

private final class SendsDoubted: HeldBatch {
    override var maySend: Bool { standing == .ours && !isHalted }
}

private final class GrantsMore: HeldBatch {
    override func grant(upTo position: Int) { super.grant(upTo: position + 1) }
}

private final class ForgetsToRepeat: HeldBatch {
    override func reconcile(_ map: [UInt8], granted: Int) -> Bool {
        let closed = map.indices.map { position in
            positions[position].isReported ? UInt8(ascii: "x") : map[position]
        }
        return super.reconcile(closed, granted: granted)
    }
}

private final class RecallsNothing: HeldBatch {
    override func restore(_ past: ReleasedBatch) {}
}

private final class ForgetsStale: HeldBatch {
    override var isIdle: Bool { unreported == 0 && !isReporting }
}

private final class SendsGoingBack: HeldBatch {
    override func goBack() {}
}

private final class BeginsAnew: HeldBatch {
    override func redeliver(_ given: Checkout.Batch) {
        super.redeliver(given)
        for position in positions.indices
        where positions[position] == .delivered && positions[position].isUnreported {
            positions[position] = .open
            unreported -= 1
        }
        recount()
    }
}

private final class NeverEnds: HeldBatch {
    override func end() {}
}

private final class AsksForMore: HeldBatch {
    override func wanted(room: Int) -> Int { super.wanted(room: room + 7) }
}

private final class LeavesExposure: HeldBatch {
    override func leaveTally() {}
}

private final class ResendsInAir: HeldBatch {
    override func redeliver(_ given: Checkout.Batch) {
        let flying = positions.indices.filter { positions[$0] == .inFlight }
        super.redeliver(given)
        for position in flying.prefix(1) { giveBack(position) }
    }
}

private final class RinglessWindow: Window {
    override func release(_ batch: HeldBatch) {
        super.release(batch)
        repeats.removeAll()
    }
}

private final class DeafWindow: Window {
    override func assign(_ tokens: [Int: FenceToken]) {
        super.assign(tokens)
        for batch in held.values { batch.isHalted = false }
    }
}

private final class DoubleWindow: Window {
    override func accept(_ given: Checkout.Batch) {
        held.forgetID(given.id)
        super.accept(given)
    }
}

private final class GreedyWindow: Window {
    override func assign(_ tokens: [Int: FenceToken]) {
        for shard in shards.tokens.keys where tokens[shard] == nil {
            for batch in held.values where batch.shard == shard { _ = held.drop(batch.number) }
        }
        super.assign(tokens)
    }
}
