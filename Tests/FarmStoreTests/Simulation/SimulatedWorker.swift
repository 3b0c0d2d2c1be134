import PushModel
import Testing

@testable import FarmStore

/// A worker as the scripts see it: checks out, sends what it was granted, reports, puts back.
final class SimulatedWorker {
    let name: String
    /// Its place in the host: which shards it serves.
    let slot: Int
    private unowned let simulation: Simulation
    private var shards: [Int: FenceToken] = [:]
    private(set) var held: [SimulatedBatch] = []
    /// Batches it was done with, and when: what was said about them is said again to another Redis.
    private var done: [(batch: SimulatedBatch, at: Int64)] = []
    private var mayHaveLost = false
    /// Until when its coordinator told it that it may start pushes.
    var leaseEnd: Int64 = 0
    /// Its coordinator is gone: it finishes.
    var isOrphaned = false
    private(set) var isFenced = false
    private(set) var isGone = false
    private(set) var isCrashed = false
    private var stoppedUntil = 0
    /// It looked at its lease just before it was stopped.
    private var isBlind = false

    private static let memory: Int64 = 10_000_000

    init(name: String, slot: Int, simulation: Simulation) {
        (self.name, self.slot, self.simulation) = (name, slot, simulation)
    }

    func assign(_ shards: [Int: FenceToken]) { self.shards = shards }
    func holds(shard: Int) -> Bool { held.contains { $0.id.shard == shard } }

    func stop(for turns: Int) {
        simulation.note("\(name) stops for \(turns)")
        stoppedUntil = simulation.turn + turns
        isBlind = simulation.chance(50) && simulation.clock.now < leaseEnd
    }

    /// The connection was lost, and what answers now is not what was there before.
    func redisIsAnother() {
        mayHaveLost = true
        for (batch, _) in done where !held.contains(where: { $0.id == batch.id }) { held.append(batch) }
        done = []
        for batch in held { batch.doubtReports() }
    }

    func step() throws {
        guard simulation.turn >= stoppedUntil else { return }
        if isOrphaned || isFenced { return try finish() }
        done.removeAll { $0.at < simulation.clock.now - Self.memory }
        switch simulation.below(10) {
        case 0, 1: try checkout()
        case 2, 3, 4, 5: try send()
        case 6, 7, 8: if let batch = simulation.pick(held) { try report(batch) }
        default:
            // A pause: what has nothing in the air goes back.
            if simulation.isQuiet || !simulation.chance(50) {
                for batch in held where batch.isGoingBack { try putBack(batch) }
                if let batch = held.first { try report(batch) }
            } else if let batch = simulation.pick(held) {
                try putBack(batch)
            }
        }
    }

    /// Reports and puts back what it has, and ends.
    private func finish() throws {
        guard let batch = simulation.pick(held), !simulation.chance(5) else {
            isGone = true
            return
        }
        if batch.hasUnreported { try report(batch) } else { try putBack(batch) }
    }

    private var mayStart: Bool {
        if isBlind {
            isBlind = false
            return true
        }
        return simulation.clock.now < leaseEnd
    }

    // MARK: Batches

    private func checkout() throws {
        guard held.count < 4, !shards.isEmpty, !held.contains(where: \.isCareful), mayStart else { return }
        var request = Checkout(
            worker: name, credit: simulation.below(40), maxBatches: 1 + simulation.below(3),
            known: mayHaveLost ? held.map(\.id) : nil,
            shards: shards.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        request.lane = simulation.chance(20) ? .bulk : .high
        let before = mayHaveLost
        mayHaveLost = true
        guard let reply = try simulation.attempt(request) else { return }
        // Only a call that looked for lost batches, and was answered, proves that there are none.
        mayHaveLost = !(before || simulation.isQuiet)
        isFenced = isFenced || !reply.fenced.isEmpty
        for given in reply.batches { try accept(given) }
    }

    private func accept(_ given: Checkout.Batch) throws {
        if let mine = held.first(where: { $0.id == given.id }) { return mine.renew(given) }
        let batch = try SimulatedBatch(given)
        held.append(batch)
        if batch.jobs.contains(where: simulation.isPoison) { isCrashed = true }
    }

    private func drop(_ batch: SimulatedBatch) {
        held.removeAll { $0 === batch }
        done.append((batch, simulation.clock.now))
    }

    // MARK: Sending

    private func send() throws {
        guard mayStart else { return }
        if let careful = held.first(where: \.isCareful),
            held.allSatisfy({ $0 === careful || $0.exposure == 0 })
        {
            // It alone: nothing else has credit.
            guard let position = careful.next else { return try report(careful) }
            return send(careful, position)
        }
        guard let batch = simulation.pick(held.filter { !$0.isCareful }) else { return }
        while let position = batch.next, simulation.isQuiet || simulation.chance(80), !isCrashed {
            send(batch, position)
        }
    }

    private func send(_ batch: SimulatedBatch, _ position: Int) {
        let token = batch.token(position)
        if simulation.gateway.poison.contains(token) {
            simulation.note("\(name) is crashed by position \(position) of \(batch.id)")
            isCrashed = true
            return
        }
        batch.answers[position] = simulation.gateway.send(
            token, attempt: batch.segment(position).attempt,
            isBroken: !simulation.isQuiet && simulation.chance(3))
    }

    // MARK: Reports

    private func report(_ batch: SimulatedBatch) throws {
        var positions = batch.answers.keys.filter(batch.isOpen).sorted()
        if !simulation.isQuiet, !isFenced, !isOrphaned, simulation.chance(40) {
            positions = Array(positions.prefix(1 + simulation.below(8)))
        }
        try report(batch, positions)
    }

    private func report(_ batch: SimulatedBatch, _ positions: [Int]) throws {
        var runs = PositionRuns()
        for position in positions { runs.append(position) }
        let request = Report(
            token: shards[batch.id.shard] ?? FenceToken([]), worker: name, batch: batch.id,
            delivery: batch.delivery, wanted: wanted(batch),
            isFactsOnly: positions.allSatisfy { isFact(batch, $0) }, runs: runs,
            entry: batch.entry(positions), expectedOpen: batch.open - positions.count)
        guard let reply = try simulation.attempt(request) else { return }
        switch reply {
        case .map(let map): batch.map = map.positions
        case .taken(let state):
            batch.hand(positions)
            batch.grant(state.granted)
            // Less is open when others told facts; more when Redis went back in time.
            if let map = state.map { batch.map = map }
            if state.isDone || state.staleness != nil && !batch.hasUnreported { return drop(batch) }
        case .stale:
            // What is left is true whoever says it.
            let facts = positions.filter { isFact(batch, $0) }
            batch.hand(positions.filter { !isFact(batch, $0) })
            if facts.isEmpty { drop(batch) } else { try report(batch, facts) }
        }
    }

    private func isFact(_ batch: SimulatedBatch, _ position: Int) -> Bool {
        batch.answers[position] == .delivered || batch.answers[position] == .failed
    }

    private func wanted(_ batch: SimulatedBatch) -> Int {
        if isOrphaned || isFenced { return 0 }
        // While a careful batch waits for its turn, nothing else gets credit.
        if let careful = held.first(where: \.isCareful) {
            guard batch === careful, held.allSatisfy({ $0 === careful || $0.exposure == 0 }) else {
                return batch.granted
            }
        }
        return batch.wanted(
            room: simulation.isQuiet ? batch.map.count : simulation.below(batch.map.count + 1))
    }

    private func putBack(_ batch: SimulatedBatch) throws {
        guard !batch.hasUnreported, let token = shards[batch.id.shard] else {
            if isOrphaned || isFenced, !batch.hasUnreported { drop(batch) }
            return
        }
        // The reply may be lost, and the batch somewhere else.
        batch.isGoingBack = true
        do {
            let request = PutBack(token: token, worker: name, batches: [(batch.id, batch.delivery)])
            if try simulation.attempt(request) != nil { drop(batch) }
        } catch StoreError.fenced {
            isFenced = true
            drop(batch)
        }
    }
}
