import BatchTesting
import PushModel
import StoreProtocol

@testable import StoreProtocol

/// A simple model of the scripts that check out, report and put back batches. The model can return to an earlier state.
struct ModelRedis {
    struct Batch {
        var body: [UInt8]
        /// One flag for each position: whether the position is open.
        var isOpen: [Bool]
        var worker = ""
        var delivery = 0
        var granted = 0

        var map: [UInt8] { isOpen.map { UInt8(ascii: $0 ? "." : "x") } }
        var open: Int { isOpen.count { $0 } }
    }

    var batches: [BatchID: Batch] = [:]
    var ready: [Int: [BatchID]] = [:]
    var flight: [Int: [BatchID]] = [:]
    var owners: [Int: FenceToken] = [:]
    /// Final outcomes that the worker reported and that Redis accepted or already knew.
    var reported: Set<PushPosition> = []

    struct PushPosition: Hashable {
        let batch: BatchID
        let position: Int
    }

    mutating func add(_ id: BatchID, body: [UInt8], count: Int) {
        batches[id] = Batch(body: body, isOpen: Array(repeating: true, count: count))
        ready[id.shard, default: []].append(id)
    }

    mutating func checkOut(_ request: Checkout) -> Checkout.Reply {
        var given: [Checkout.Batch] = []
        var fenced: [Int] = []
        var left: [Int] = []
        var credit = request.credit
        for (shard, token) in request.shards {
            guard owners[shard] == token else {
                fenced.append(shard)
                continue
            }
            if let known = request.known {
                for id in flight[shard] ?? []
                where !known.contains(id) && batches[id]?.worker == request.worker {
                    given.append(give(id))
                }
            }
            while given.count < request.maxBatches, credit > 0, let id = ready[shard]?.first {
                ready[shard]?.removeFirst()
                flight[shard, default: []].append(id)
                guard var batch = batches[id] else { continue }
                let before = batch.isOpen.firstIndex(of: true) ?? 0
                batch.worker = request.worker
                batch.delivery += 1
                batch.granted = min(batch.isOpen.count, before + credit)
                credit -= batch.granted - before
                batches[id] = batch
                given.append(give(id))
            }
            if ready[shard]?.isEmpty == false { left.append(shard) }
        }
        return Checkout.Reply(pauseReason: nil, nonEmptyShards: left, fenced: fenced, batches: given)
    }

    private func give(_ id: BatchID) -> Checkout.Batch {
        guard let batch = batches[id] else { preconditionFailure("no batch \(id)") }
        return Checkout.Batch(
            id: id, delivery: batch.delivery, granted: batch.granted, suspicion: nil, map: batch.map,
            body: batch.body)
    }

    mutating func report(_ report: Report) -> Report.Reply {
        let positions = Batches.positions(report.runs)
        guard var batch = batches[report.batch] else {
            acknowledge(report, positions)
            return .taken(.init(open: 0, granted: 0, isDone: true))
        }
        var staleness: Report.Staleness?
        if owners[report.batch.shard] != report.token {
            staleness = .fenced
        } else if batch.worker != report.worker || batch.delivery != report.delivery {
            staleness = .redelivered
        }
        if staleness != nil, !report.hasOnlyFacts {
            return .stale(
                .init(open: batch.open, granted: batch.granted, isDone: false, staleness: staleness))
        }
        acknowledge(report, positions)
        if positions.contains(where: { !batch.isOpen[$0] }) {
            return .map(.init(positions: batch.map, granted: batch.granted, staleness: staleness))
        }
        for position in positions { batch.isOpen[position] = false }
        if batch.open == 0 {
            remove(report.batch)
            return .taken(.init(open: 0, granted: batch.granted, isDone: true, staleness: staleness))
        }
        if staleness == nil {
            batch.granted = max(batch.granted, min(report.wanted, batch.isOpen.count))
        }
        batches[report.batch] = batch
        return .taken(
            .init(
                open: batch.open, granted: batch.granted, isDone: false, staleness: staleness,
                map: report.expectedOpen.map { $0 != batch.open } == true ? batch.map : nil))
    }

    private mutating func acknowledge(_ report: Report, _ positions: [Int]) {
        guard report.hasOnlyFacts else { return }
        for position in positions { reported.insert(PushPosition(batch: report.batch, position: position)) }
    }

    mutating func putBack(_ request: PutBack) -> Result<Int, StoreError> {
        guard let first = request.batches.first else { return .success(0) }
        guard owners[first.id.shard] == request.token else {
            return .failure(.fenced(lease: "\(first.id.shard)"))
        }
        var moved = 0
        for (id, delivery) in request.batches {
            guard let batch = batches[id], batch.worker == request.worker, batch.delivery == delivery else {
                continue
            }
            takeBack(id)
            moved += 1
        }
        return .success(moved)
    }

    /// Puts a batch at the head of its list, like the scripts putback and reclaim.
    mutating func takeBack(_ id: BatchID) {
        batches[id]?.worker = ""
        batches[id]?.granted = 0
        flight[id.shard]?.removeAll { $0 == id }
        ready[id.shard, default: []].insert(id, at: 0)
    }

    /// Closes a position, as if another worker had reported its outcome.
    mutating func close(_ place: PushPosition) {
        batches[place.batch]?.isOpen[place.position] = false
        if batches[place.batch]?.open == 0 { remove(place.batch) }
    }

    private mutating func remove(_ id: BatchID) {
        batches[id] = nil
        ready[id.shard]?.removeAll { $0 == id }
        flight[id.shard]?.removeAll { $0 == id }
    }
}
