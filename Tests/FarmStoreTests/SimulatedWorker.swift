import PushModel
import Testing

@testable import FarmStore

/// A worker as the scripts see it: checks out, sends what it was granted, reports, puts back.
final class SimulatedWorker {
    private final class Held {
        let id: BatchID
        let delivery: Int
        let batch: Batch
        let token: FenceToken
        var granted: Int
        var map: [UInt8]
        var answers: [Int: SimulatedGateway.Answer] = [:]
        var isGoingBack = false

        init(_ checked: Checkout.Batch, token: FenceToken) throws {
            (id, delivery, self.token) = (checked.id, checked.delivery, token)
            (granted, map) = (checked.granted, checked.map)
            batch = try Batch(decoding: checked.body)
        }

        func isOpen(_ position: Int) -> Bool { map[position] == UInt8(ascii: ".") }
    }

    let name: String
    private unowned let simulation: Simulation
    private var shards: [(number: Int, token: FenceToken)]
    private var held: [Held] = []
    private var mayHaveLost = false
    private(set) var isFenced = false

    init(name: String, simulation: Simulation, shards: [(number: Int, token: FenceToken)]) {
        (self.name, self.simulation, self.shards) = (name, simulation, shards)
    }

    func assign(_ shards: [(number: Int, token: FenceToken)]) { self.shards = shards }

    func step() throws {
        switch simulation.below(10) {
        case 0, 1: try checkout()
        case 2, 3, 4, 5: send()
        case 6, 7, 8:
            if !held.isEmpty { try report(held[simulation.below(held.count)]) }
        default:
            if simulation.isQuiet || !simulation.chance(50) {
                for batch in held where batch.isGoingBack { try putBack(batch) }
                if let batch = held.first { try report(batch) }
            } else if let batch = held.randomElement(using: &simulation.random) {
                try putBack(batch)
            }
        }
    }

    private func checkout() throws {
        guard held.count < 4, !shards.isEmpty else { return }
        let request = Checkout(
            worker: name, credit: simulation.below(40), maxBatches: 1 + simulation.below(3),
            known: mayHaveLost ? held.map(\.id) : nil, shards: shards)
        let before = mayHaveLost
        mayHaveLost = true
        guard let reply = try simulation.attempt(request) else { return }
        // Only a call that looked for lost batches, and was answered, proves that there are none.
        mayHaveLost = !(before || simulation.isQuiet)
        isFenced = isFenced || !reply.fenced.isEmpty
        for batch in reply.batches where !held.contains(where: { $0.id == batch.id }) {
            let token = try #require(shards.first { $0.number == batch.id.shard }).token
            held.append(try Held(batch, token: token))
        }
    }

    private func send() {
        guard let batch = held.filter({ !$0.isGoingBack }).randomElement(using: &simulation.random) else {
            return
        }
        for position in 0..<min(batch.granted, batch.map.count)
        where simulation.isQuiet || simulation.chance(70) {
            guard batch.isOpen(position), batch.answers[position] == nil else { continue }
            let push = batch.batch.pushes[position]
            let segment = batch.batch.segments[Int(push.segment)]
            let answer = simulation.gateway.send(
                Array(batch.batch.bytes[push.token]), attempt: segment.attempt,
                isBroken: !simulation.isQuiet && simulation.chance(3))
            batch.answers[position] = answer
        }
    }

    private func report(_ batch: Held, factsOnly: Bool = false) throws {
        var positions = batch.answers.keys.filter(batch.isOpen).sorted()
        if factsOnly {
            positions = positions.filter { batch.answers[$0] == .delivered || batch.answers[$0] == .failed }
        }
        if !simulation.isQuiet, simulation.chance(40) {
            positions = Array(positions.prefix(1 + simulation.below(8)))
        }
        var runs = PositionRuns()
        for position in positions { runs.append(position) }
        let answers = positions.map { batch.answers[$0]! }
        let isFacts = answers.allSatisfy { $0 == .delivered || $0 == .failed }
        let request = Report(
            token: batch.token, worker: name, batch: batch.id, delivery: batch.delivery,
            wanted: simulation.isQuiet ? batch.map.count : simulation.below(batch.map.count + 1),
            isFactsOnly: isFacts, runs: runs,
            entry: entry(batch, positions))
        guard let reply = try simulation.attempt(request) else { return }
        switch reply {
        case .map(let map):
            batch.map = map.positions
        case .taken(let state):
            for position in positions { batch.map[position] = UInt8(ascii: "x") }
            batch.granted = max(batch.granted, state.granted)
            if state.isDone { return drop(batch) }
            if state.staleness != nil {
                isFenced = true
                if !batch.answers.keys.contains(where: batch.isOpen) { drop(batch) }
            }
        case .stale:
            isFenced = true
            if !factsOnly,
                batch.answers.contains(where: { batch.isOpen($0) && ($1 == .delivered || $1 == .failed) })
            {
                try report(batch, factsOnly: true)
            } else {
                drop(batch)
            }
        }
    }

    private func putBack(_ batch: Held) throws {
        guard batch.answers.keys.allSatisfy({ !batch.isOpen($0) }) else { return }
        // From now on nothing of it may be sent: the reply may be lost, and the batch somewhere else.
        batch.isGoingBack = true
        do {
            let request = PutBack(token: batch.token, worker: name, batches: [(batch.id, batch.delivery)])
            if try simulation.attempt(request) != nil { drop(batch) }
        } catch StoreError.fenced {
            isFenced = true
            drop(batch)
        }
    }

    private func drop(_ batch: Held) { held.removeAll { $0 === batch } }

    /// An entry with one item a position: the gatherer must not depend on how they are grouped.
    private func entry(_ batch: Held, _ positions: [Int]) -> [UInt8] {
        var builder = ResultsBuilder()
        for position in positions {
            let push = batch.batch.pushes[position]
            let segment = batch.batch.segments[Int(push.segment)]
            let isOnce = segment.options.delivery == .atMostOnce
            batch.batch.bytes.withUnsafeBytes { raw in
                let job = UnsafeRawBufferPointer(rebasing: raw[segment.jobID])
                let token = UnsafeRawBufferPointer(rebasing: raw[push.token])
                let payload = UnsafeRawBufferPointer(rebasing: raw[segment.payload])
                switch batch.answers[position]! {
                case .delivered: builder.beginDelivered(jobID: job, receipts: .failures)
                case .failed:
                    builder.beginFailed(jobID: job, reason: "BadDeviceToken", status: 400, receipts: .none)
                case .expired: builder.beginExpired(jobID: job, receipts: .none)
                case .unknown where isOnce:
                    builder.beginFailed(jobID: job, reason: "unknown", isUnknown: true, receipts: .none)
                case .throttled, .unknown:
                    let isUnknown = batch.answers[position] == .unknown
                    let head = SegmentHead(
                        repeating: segment, jobID: batch.batch.jobID(of: Int(push.segment)),
                        attempt: segment.attempt + 1, cause: "")
                    builder.beginRetry(head, payload: payload, why: isUnknown ? .unknownOutcome : .throttled)
                }
                builder.append(token: token)
            }
        }
        return builder.finish() ?? []
    }
}
