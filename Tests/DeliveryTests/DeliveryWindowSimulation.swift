import BatchTesting
import PushModel
import RandomTesting
import StoreProtocol

@testable import Delivery
@testable import StoreProtocol

/// A worker's window between a model of Redis and a gateway with random responses. One clock and one seed decide all events.
/// Replies are lost, Redis returns to an earlier state, and shards are withdrawn, taken over and returned.
struct DeliveryWindowSimulation {
    typealias PushPosition = ModelRedis.PushPosition

    /// The kinds of faults that a run injects.
    struct Troubles: OptionSet {
        let rawValue: Int
        static let losses = Troubles(rawValue: 1)
        static let rollBacks = Troubles(rawValue: 2)
        static let owners = Troubles(rawValue: 4)
        static let all: Troubles = [.losses, .rollBacks, .owners]
    }

    private enum Wire {
        case action(DeliveryWindow.Action)
        case checkOut(Checkout)
    }

    private struct Flying {
        let batch: HeldBatch
        let position: Int
        var place: PushPosition { PushPosition(batch: batch.id, position: position) }
    }

    private static let shards = 3
    private static let worker = "w"
    private var random: SplitMix
    private let troubles: Troubles
    private let limit: Int
    private let window: DeliveryWindow
    private var redis = ModelRedis()
    /// Earlier states of Redis and the time of each state.
    private var past: [(at: ContinuousClock.Instant, redis: ModelRedis)] = []
    private var now = ContinuousClock.now
    /// Calls in flight to Redis.
    private var wire: [Wire] = []
    private var isConnected = true
    private var nextPoll = ContinuousClock.now + .seconds(5)
    private var flying: [Flying] = []
    /// Final outcomes that the worker has received from the gateway.
    private var known: Set<PushPosition> = []
    /// Positions that are closed according to a reply of Redis.
    private var shown: Set<PushPosition> = []
    /// The send credit of each batch.
    private var credit: [BatchID: Int] = [:]
    private var putBack: Set<BatchID> = []
    private var withdrawn: Set<Int> = []
    private var epoch = 0
    private var made = 0
    private var isQuiet = false
    private(set) var sent = 0

    init(seed: UInt64, troubles: Troubles, make: (ContinuousClock.Instant) -> DeliveryWindow) {
        random = SplitMix(seed: seed)
        self.troubles = troubles
        limit = Int.random(in: 80...200, using: &random)
        window = make(now)
        window.credit.limit = limit
        for shard in 0..<Self.shards { redis.owners[shard] = newToken() }
        window.assign(redis.owners)
    }

    /// Runs the whole simulation.
    mutating func run(steps: Int = 350) throws {
        for _ in 0..<steps { try step() }
        try endFaults()
    }

    // MARK: Steps

    private mutating func step() throws {
        now += .milliseconds(Int.random(in: 0...30, using: &random))
        window.now = now
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30: try send()
        case 30..<55: try respond()
        case 55..<78: try deliver()
        case 78..<84: tick()
        case 84..<90: checkOut()
        case 90..<94: addBatch()
        default: trouble()
        }
        try collect()
        try check()
    }

    private mutating func chance(_ oneIn: Int) -> Bool { Int.random(in: 0..<oneIn, using: &random) == 0 }

    private mutating func newToken() -> FenceToken {
        epoch += 1
        return FenceToken(Array("\(epoch):n\(epoch):here".utf8))
    }

    private mutating func addBatch() {
        guard made < 40, !isQuiet else { return }
        made += 1
        let count = Int.random(in: 1...40, using: &random)
        let id = BatchID(Array("0\(Int.random(in: 0..<Self.shards, using: &random)).h.\(made)".utf8))
        let options = PushOptions(delivery: chance(4) ? .atMostOnce : .atLeastOnce)
        change {
            $0.add(
                id, body: Batches.body([Batches.Part(options: options, count: count)]), count: count)
        }
        window.shards.mayHaveBatches([id.shard])
    }

    private mutating func send() throws {
        window.queues.beginTurn()
        for _ in 0..<Int.random(in: 1...40, using: &random) {
            guard let (batch, _) = window.nextBatch(hasExclusiveTurn: window.isClearForSuspect) else {
                return
            }
            if !batch.isSuspect, batch.route.connectionChoice(for: batch.number) == .none {
                window.queues.pass(batch)
                continue
            }
            if let older = older(than: batch) {
                throw BrokenInvariant(
                    description: "\(batch.id) goes before \(older.id), which is older, and may go")
            }
            guard let position = batch.next() else { return }
            let push = Flying(batch: batch, position: position)
            sent += 1
            guard !flying.contains(where: { $0.place == push.place }) else {
                throw BrokenInvariant(description: "\(push.place) is in flight twice")
            }
            guard !known.contains(push.place) else {
                throw BrokenInvariant(
                    description: "\(push.place) was sent again though its outcome was known")
            }
            guard position < credit[batch.id, default: 0] else {
                throw BrokenInvariant(
                    description: "\(push.place) was sent beyond the credit of \(credit[batch.id] ?? 0)")
            }
            guard !putBack.contains(batch.id), !withdrawn.contains(batch.shard) else {
                throw BrokenInvariant(
                    description: "\(push.place) was sent while the batch was being returned")
            }
            flying.append(push)
        }
    }

    /// A batch of the same list that must be sent before `batch`, or whose place in the list is unknown.
    private func older(than batch: HeldBatch) -> HeldBatch? {
        guard !batch.isSuspect else { return nil }
        return window.held.values.first {
            $0.number < batch.number && $0.shard == batch.shard && $0.lane == batch.lane && !$0.isSuspect
                && ($0.hasNext || $0.mustCompare && $0.ownership == .ours && !$0.isHalted)
        }
    }

    private mutating func respond() throws {
        for _ in 0..<Int.random(in: 1...30, using: &random) {
            guard let index = flying.indices.randomElement(using: &random) else { return }
            let push = flying.remove(at: index)
            let jobPart = push.batch.batch.jobParts[0]
            switch Int.random(in: 0..<20, using: &random) {
            case 0: window.reopen(push.batch, push.position)
            case 1:
                known.insert(push.place)
                complete(push, .tokenFailed(reason: "Unregistered", status: 410, isInvalidToken: true))
            case 2: complete(push, .retry(.server, status: 503, reason: "busy", retryAfterMilliseconds: 0))
            case 3 where jobPart.options.delivery == .atMostOnce:
                known.insert(push.place)
                complete(push, .becameUnknown(cause: "cut"))
            default:
                known.insert(push.place)
                guard window.held[push.batch.number] === push.batch else {
                    throw BrokenInvariant(
                        description: "\(push.place) was answered, but its batch is forgotten")
                }
                window.delivered(push.batch, push.position)
            }
        }
    }

    private func complete(_ push: Flying, _ fact: UndeliveredResult) {
        guard window.held[push.batch.number] === push.batch else { return }
        window.record(push.batch, push.position, as: fact, timestamp: nil)
    }

    private mutating func tick() {
        if nextPoll <= now {
            window.searchBatches()
            nextPoll = now + .seconds(5)
        }
        guard isConnected, window.delay != nil else { return }
        window.reportDue()
    }

    private mutating func checkOut() {
        guard isConnected else { return }
        if isQuiet || chance(10) { window.shards.allMayHaveBatches() }
        if let request = window.checkOut(wantsMore: true) { wire.append(.checkOut(request)) }
    }

    // MARK: Redis

    private mutating func change(_ body: (inout ModelRedis) -> Void) {
        past.append((now, redis))
        while let first = past.first, first.at + .seconds(2) < now { past.removeFirst() }
        body(&redis)
    }

    /// Redis executes the next call and its reply arrives.
    private mutating func deliver() throws {
        guard isConnected else { return }
        for _ in 0..<Int.random(in: 1...6, using: &random) where !wire.isEmpty {
            let call = wire.removeFirst()
            execute(call, isLost: false)
            try collect()
        }
    }

    /// - Parameter isLost: whether the connection is lost after Redis has executed the call, so that the worker gets no reply.
    private mutating func execute(_ call: Wire, isLost: Bool) {
        let lost = StoreError.redis(.notConnected("lost"))
        switch call {
        case .checkOut(let request):
            var reply: Checkout.Reply?
            change { reply = $0.checkOut(request) }
            guard let reply, !isLost else { return window.checkedOut(request, .failure(lost)) }
            for batch in reply.batches {
                credit[batch.id] = batch.granted
                putBack.remove(batch.id)
                show(batch.id, batch.map)
            }
            window.checkedOut(request, .success(reply))
        case .action(.report(let call, let report)):
            var reply: Report.Reply?
            change { reply = $0.report(report) }
            guard let reply, !isLost else { return window.reported(call, .failure(lost)) }
            note(report, reply)
            window.reported(call, .success(reply))
        case .action(.repeated(let report)):
            var reply: Report.Reply?
            change { reply = $0.report(report) }
            guard let reply, !isLost else { return window.repeated(report, .failure(lost)) }
            window.repeated(report, .success(reply))
        case .action(.putBack(let call, let request)):
            var result: Result<Int, StoreError> = .success(0)
            change { result = $0.putBack(request) }
            window.putBack(call, isLost ? .failure(lost) : result)
        case .action: break
        }
    }

    private mutating func note(_ report: Report, _ reply: Report.Reply) {
        let id = report.batch
        switch reply {
        case .taken(let state):
            if state.isDone { finished(id) } else if state.staleness == nil { credit[id] = state.granted }
            if let map = state.map { show(id, map) }
        case .map(let map):
            if map.staleness == nil { credit[id] = map.granted }
            show(id, map.positions)
        case .stale: break
        }
    }

    private mutating func show(_ id: BatchID, _ map: [UInt8]) {
        for position in map.indices where map[position] == UInt8(ascii: "x") {
            shown.insert(PushPosition(batch: id, position: position))
        }
    }

    private mutating func finished(_ id: BatchID) {
        for position in 0..<40 { shown.insert(PushPosition(batch: id, position: position)) }
    }

    // MARK: Trouble

    private mutating func trouble() {
        guard !isQuiet else { return }
        if !isConnected { return chance(3) ? connect() : () }
        switch Int.random(in: 0..<6, using: &random) {
        case 0 where troubles.contains(.losses), 1 where troubles.contains(.rollBacks): disconnect()
        case 2 where troubles.contains(.owners): takeOver()
        case 3 where troubles.contains(.owners): withdraw()
        case 4, 5:
            if troubles.contains(.owners) { giveBackShards() }
        default: break
        }
    }

    /// Ends the connection. Redis executes only some of the calls in flight, and the worker gets no reply to any of these calls.
    private mutating func disconnect() {
        isConnected = false
        let calls = wire
        wire = []
        let done = Int.random(in: 0...calls.count, using: &random)
        for (index, call) in calls.enumerated() {
            if index < done { execute(call, isLost: true) } else { fail(call) }
        }
    }

    private func fail(_ call: Wire) {
        let lost = StoreError.redis(.notConnected("lost"))
        switch call {
        case .checkOut(let request): window.checkedOut(request, .failure(lost))
        case .action(.report(let call, _)): window.reported(call, .failure(lost))
        case .action(.repeated(let report)): window.repeated(report, .failure(lost))
        case .action(.putBack(let call, _)): window.putBack(call, .failure(lost))
        case .action: break
        }
    }

    private mutating func connect() {
        isConnected = true
        let isOther = troubles.contains(.rollBacks) && chance(2)
        if isOther { rollBack() }
        window.now = now
        window.reconnected(isOther: isOther)
    }

    /// Redis loses its last seconds of data.
    private mutating func rollBack() {
        guard let moment = past.indices.randomElement(using: &random) else { return }
        redis = past[moment].redis
        past.removeSubrange(moment...)
        // Redis never gives a worker a batch that Redis has forgotten, so these batches are finished.
        for id in Set(known.map(\.batch)) where redis.batches[id] == nil { finished(id) }
        for place in shown where redis.batches[place.batch]?.isOpen[safe: place.position] == true {
            shown.remove(place)
        }
        for (id, batch) in redis.batches { credit[id] = batch.worker == Self.worker ? batch.granted : 0 }
    }

    /// Another host takes the shard over, reclaims all its batches, and sends some of the pushes.
    private mutating func takeOver() {
        let shard = Int.random(in: 0..<Self.shards, using: &random)
        let (token, isFast) = (newToken(), chance(2))
        var random = random
        change { redis in
            redis.owners[shard] = token
            for id in redis.flight[shard] ?? [] { redis.takeBack(id) }
            guard isFast, let id = redis.ready[shard]?.first, let batch = redis.batches[id] else { return }
            for position in batch.isOpen.indices where batch.isOpen[position] {
                if Bool.random(using: &random) { redis.close(PushPosition(batch: id, position: position)) }
            }
        }
        self.random = random
    }

    /// The coordinator withdraws a shard, because of an order or because the shard's lease is lost.
    private mutating func withdraw() {
        let shard = Int.random(in: 0..<Self.shards, using: &random)
        withdrawn.insert(shard)
        window.assign(window.shards.tokens.filter { $0.key != shard })
    }

    /// The coordinator acquires all shards again.
    private mutating func giveBackShards() {
        var tokens = window.shards.tokens
        for shard in 0..<Self.shards where tokens[shard] == nil || tokens[shard] != redis.owners[shard] {
            let token = newToken()
            tokens[shard] = token
            change { $0.owners[shard] = token }
        }
        withdrawn = []
        window.assign(tokens)
    }

    // MARK: Checks

    private mutating func collect() throws {
        for action in window.takeActions() {
            switch action {
            case .report, .repeated:
                wire.append(.action(action))
            case .putBack(_, let request):
                for batch in request.batches {
                    putBack.insert(batch.id)
                    guard !flying.contains(where: { $0.batch.id == batch.id }) else {
                        throw BrokenInvariant(description: "\(batch.id) is given back with pushes in flight")
                    }
                }
                wire.append(.action(action))
            case .quarantine(let park):
                throw BrokenInvariant(description: "\(park.batch) is quarantined: \(park.reason)")
            case .released(let shards):
                guard !flying.contains(where: { shards.contains($0.batch.shard) }) else {
                    throw BrokenInvariant(description: "shards \(shards) are released with pushes in flight")
                }
            case .hasReported, .fenced: break
            }
        }
        if !isConnected {
            // Without a connection each call fails at once.
            let calls = wire
            wire = []
            for call in calls { fail(call) }
        }
    }

    private func check() throws {
        if flying.count > limit {
            throw BrokenInvariant(description: "\(flying.count) in flight, \(limit) allowed")
        }
        let sum = window.held.values.reduce(0) { $0 + $1.creditInUse + $1.asked } + window.checkouts.credit
        guard window.creditInUse == sum else {
            throw BrokenInvariant(description: "the tally says \(window.creditInUse), the batches say \(sum)")
        }
        if troubles.isSubset(of: .losses), window.creditInUse > limit {
            throw BrokenInvariant(description: "exposed to \(window.creditInUse), \(limit) allowed")
        }
    }

    /// Ends all faults. Every push must then get an outcome.
    private mutating func endFaults() throws {
        isQuiet = true
        if !isConnected { connect() }
        giveBackShards()
        for _ in 0..<3000 {
            try step()
            // The coordinator reclaims batches that, according to Redis, belong to another worker.
            if chance(50) {
                change { redis in
                    for (shard, ids) in redis.flight {
                        for id in ids where redis.batches[id]?.worker != Self.worker { redis.takeBack(id) }
                        _ = shard
                    }
                }
            }
            if redis.batches.isEmpty, window.isIdle, flying.isEmpty, wire.isEmpty { break }
        }
        guard redis.batches.isEmpty, window.isIdle, flying.isEmpty else {
            let inRedis = redis.batches.map { id, batch in
                "\(id) of '\(batch.worker)', delivery \(batch.delivery), \(batch.open) open, credit \(batch.granted)"
            }
            let held = window.held.values.map { batch in
                "\(batch.id) \(batch.ownership) credit \(batch.granted)/\(batch.count) reported \(batch.reported) "
                    + "unreported \(batch.unreported) in flight \(batch.inFlight)"
            }
            throw BrokenInvariant(
                description:
                    "it hangs. Redis: \(inRedis). Held: \(held). Exposure \(window.creditInUse) of \(limit), "
                    + "unconfirmed \(window.checkouts.unconfirmed), \(window.shards.hasNoPending() ? "none pending" : "pending"), "
                    + "\(window.checkouts.isPending ? "checking out" : ""), lists \(redis.ready) \(redis.flight)"
            )
        }
        guard window.creditInUse == 0 else {
            throw BrokenInvariant(description: "exposure of \(window.creditInUse) is left")
        }
        if let lost = known.subtracting(redis.reported).subtracting(shown).min(by: { "\($0)" < "\($1)" }) {
            throw BrokenInvariant(description: "the outcome of \(lost) was never reported")
        }
    }
}

extension Array {
    fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
