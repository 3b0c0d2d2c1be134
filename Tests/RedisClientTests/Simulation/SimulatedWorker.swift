import PushModel
import Testing

@testable import Delivery
@testable import RedisClient
@testable import StoreProtocol

/// A worker process: the farm's own ``DeliveryWindow`` between Redis and the gateway, with a connection that breaks.
final class SimulatedWorker {
    private enum Call {
        case checkOut(Checkout)
        case action(DeliveryWindow.Action)
    }

    private struct Flying {
        let batch: HeldBatch
        let position: Int
        let response: SimulatedGateway.Response
    }

    let name: String
    /// The place of the worker in its host, which determines its shards.
    let slot: Int
    private unowned let simulation: Simulation
    private let window: DeliveryWindow
    /// The end of the lease that the coordinator sent. The worker may send pushes until this time.
    var leaseEnd: Int64 = 0
    /// Whether the coordinator has exited. If so, the worker sends no more pushes, reports its outcomes and exits.
    private(set) var isOrphaned = false
    /// Whether a script replied that a shard has another owner. The coordinator reads this flag.
    var isFenced = false
    /// Withdrawn shards of which the worker has no batch any more. The coordinator reads this set.
    var released: Set<Int> = []
    private(set) var isGone = false
    private var assigned: [Int: FenceToken] = [:]
    private var recalled: Set<Int> = []
    private(set) var isCrashed = false
    /// Calls in flight to Redis.
    private var wire: [Call] = []
    private var flying: [Flying] = []
    private var isConnected = true
    /// Whether the next connection reaches a different Redis.
    private var isRedisAnother = false
    private var isBroken = false
    private var stoppedUntil = 0
    /// Whether the worker was suspended just after it had checked its lease.
    /// If so, it sends once more although the lease may have ended.
    private var isBlind = false
    private var lastPoll: Int64 = 0

    private static let start = ContinuousClock.now

    init(name: String, slot: Int, simulation: Simulation) {
        (self.name, self.slot, self.simulation) = (name, slot, simulation)
        window = DeliveryWindow(worker: name, now: Self.start)
        window.credit.limit = 70 + simulation.below(100)
    }

    func assign(_ shards: [Int: FenceToken]) {
        assigned = shards
        serve()
    }

    private func serve() {
        window.now = now
        window.assign(isOrphaned ? [:] : assigned.filter { !recalled.contains($0.key) })
    }

    /// Drains the shards and then serves them again, like ``AppSender``.
    func drainAndServeAgain(_ jobs: Set<String>, _ shards: Set<Int>) {
        let affected = window.shards(of: jobs).union(shards).filter { window.shards.tokens[$0] != nil }
        guard !affected.isEmpty else { return }
        recalled.formUnion(affected)
        serve()
    }

    private func areEmpty(_ shards: [Int]) {
        let back = shards.filter { recalled.remove($0) != nil && assigned[$0] != nil }
        if !back.isEmpty { serve() }
        released.formUnion(shards.filter { assigned[$0] == nil })
    }

    func stop(for turns: Int) {
        simulation.note("\(name) stops for \(turns)")
        stoppedUntil = simulation.turn + turns
        isBlind = simulation.chance(50) && simulation.clock.now < leaseEnd
    }

    func resume() { stoppedUntil = 0 }

    /// Makes the worker take no new work, and exit after it has reported all outcomes.
    func finish() {
        isOrphaned = true
        window.now = now
        window.change(to: .returning)
    }

    /// Breaks the connection. The next connection reaches a different Redis.
    func redisIsAnother() { (isBroken, isRedisAnother) = (true, true) }

    private var now: ContinuousClock.Instant { Self.start + .microseconds(simulation.clock.now) }
    private var mayStart: Bool {
        if isBlind {
            isBlind = false
            return true
        }
        return simulation.clock.now < leaseEnd && !isOrphaned && !simulation.isPaused
    }

    // MARK: Turns

    func step() throws {
        guard simulation.turn >= stoppedUntil else { return }
        window.now = now
        if isBroken { try breakConnection(calls: 0) }
        try turn()
        for _ in 0..<2 {
            switch simulation.below(10) {
            case 0, 1, 2: try send()
            case 3, 4: try respond()
            case 5, 6, 7: try callRedis()
            case 8: tick()
            default: window.shards.allMayHaveBatches()
            }
            guard !isCrashed else { return }
            try turn()
        }
        if isOrphaned, window.isIdle && flying.isEmpty || simulation.chance(3) { isGone = true }
    }

    /// Ends a turn of the loop: takes the window's actions, and puts its requests to Redis in flight.
    private func turn() throws {
        window.yieldsToSuspect = window.suspect != nil
        for action in window.takeActions() {
            switch action {
            case .released(let shards): areEmpty(shards)
            case .fenced: isFenced = true
            case .hasReported: break
            case .quarantine(let park):
                throw SimulationFault.count("\(park.batch) is quarantined: \(park.reason)")
            case .report, .putBack, .repeated: wire.append(.action(action))
            }
        }
        if isConnected, let request = window.checkOut(wantsMore: mayStart && !window.yieldsToSuspect) {
            wire.append(.checkOut(request))
        }
        if !isConnected { fail() }
    }

    private func tick() {
        if simulation.clock.now - lastPoll > 5_000_000 {
            lastPoll = simulation.clock.now
            window.searchBatches()
        }
        if isConnected, window.delay != nil { window.reportDue() }
    }

    // MARK: The gateway

    private func send() throws {
        for _ in 0..<1 + simulation.below(simulation.isQuiet ? 100 : 30) where mayStart {
            let hasExclusiveTurn = window.suspect != nil && window.isClearForSuspect
            guard let (batch, _) = window.nextBatch(hasExclusiveTurn: hasExclusiveTurn),
                let position = batch.next()
            else {
                return
            }
            let push = batch.batch.pushes[position]
            let token = Array(batch.batch.bytes[push.token])
            guard SimulatedGateway.response(token) != nil else {
                window.record(batch, position, as: .expired, timestamp: nil)
                continue
            }
            guard !simulation.gateway.poison.contains(token) else {
                simulation.note("\(name) is crashed by position \(position) of \(batch.id)")
                isCrashed = true
                return
            }
            let response = simulation.gateway.send(
                token, attempt: batch.batch.jobParts[Int(push.jobPart)].attempt,
                trouble: simulation.isQuiet ? 99 : simulation.below(100), at: simulation.turn,
                isForgotten: isRedisAnother)
            flying.append(Flying(batch: batch, position: position, response: response))
            simulation.note(
                "\(name) sends \(token.prefix(2)), position \(position) of \(batch.id): \(response)")
        }
    }

    private func respond() throws {
        for _ in 0..<1 + simulation.below(simulation.isQuiet ? 200 : 40) where !flying.isEmpty {
            let push = flying.remove(at: simulation.below(flying.count))
            guard window.held[push.batch.number] === push.batch else {
                throw SimulationFault.count("\(push.batch.id) is forgotten with pushes in flight")
            }
            switch push.response {
            case .unprocessed: window.reopen(push.batch, push.position)
            case .delivered: window.delivered(push.batch, push.position)
            case .failed:
                let token = push.batch.batch.bytes[push.batch.batch.pushes[push.position].token]
                settle(
                    push,
                    SimulatedGateway.isTokenAtFault(token)
                        ? .tokenFailed(reason: "BadDeviceToken", status: 400, isInvalidToken: true)
                        : .deadLetter(reason: "BadTopic", status: 400))
            case .throttled:
                settle(push, .retry(.throttled, status: 429, reason: "busy", retryAfterMilliseconds: 0))
            case .unknown:
                let jobPart = push.batch.batch.jobParts[push.batch.jobPart(of: push.position)]
                let isOnce = jobPart.options.delivery == .atMostOnce
                settle(
                    push,
                    isOnce
                        ? .becameUnknown(cause: "cut")
                        : .retry(.unknownOutcome, status: 0, reason: "cut", retryAfterMilliseconds: 0))
            }
        }
    }

    private func settle(_ push: Flying, _ fact: UndeliveredResult) {
        window.record(push.batch, push.position, as: fact, timestamp: fact.isFact ? 5 : nil)
    }

    // MARK: Redis

    private func callRedis() throws {
        guard isConnected else {
            if simulation.isQuiet || simulation.chance(60) { connect() }
            return
        }
        for _ in 0..<1 + simulation.below(4) where !wire.isEmpty && isConnected && !isCrashed {
            let trouble = simulation.profile.lost + simulation.profile.replyLost
            if !simulation.isQuiet, simulation.below(1000) < trouble {
                try breakConnection(calls: simulation.below(wire.count + 1))
            } else {
                try carryOut(wire.removeFirst())
                try turn()
            }
        }
    }

    private func connect() {
        simulation.note("\(name) is connected\(isRedisAnother ? " to another Redis" : "")")
        isConnected = true
        let isOther = isRedisAnother
        isRedisAnother = false
        window.reconnected(isOther: isOther)
    }

    /// Breaks the connection. Redis executes the first `calls` calls in flight, either at once or later. No call gets a reply.
    private func breakConnection(calls: Int) throws {
        simulation.note("\(name) loses its connection")
        if !isBroken {
            let isLate = simulation.chance(30)
            for call in wire.prefix(calls) {
                if isLate { postpone(call) } else { try carryOut(call, isLost: true) }
            }
            wire.removeFirst(isLate ? 0 : calls)
        }
        (isConnected, isBroken) = (false, false)
        fail()
    }

    private func postpone(_ call: Call) {
        switch call {
        case .checkOut(let request): simulation.postpone(request)
        case .action(.report(_, let report)), .action(.repeated(let report)): simulation.postpone(report)
        case .action(.putBack(_, let request)): simulation.postpone(request)
        case .action: break
        }
    }

    private func fail() {
        let calls = wire
        wire = []
        for call in calls { fail(call) }
    }

    private func carryOut(_ call: Call, isLost: Bool = false) throws {
        switch call {
        case .checkOut(let request):
            let result = try result(of: request, isLost)
            if case .success(let reply) = result { read(reply) }
            window.checkedOut(request, result)
        case .action(.report(let call, let report)): window.reported(call, try result(of: report, isLost))
        case .action(.repeated(let report)): window.repeated(report, try result(of: report, isLost))
        case .action(.putBack(let call, let request)):
            window.putBack(call, try result(of: request, isLost))
        case .action: break
        }
    }

    /// Tells the window that the call got no reply.
    private func fail(_ call: Call) {
        let lost = StoreError.redis(.notConnected("lost"))
        switch call {
        case .checkOut(let request): window.checkedOut(request, .failure(lost))
        case .action(.report(let call, _)): window.reported(call, .failure(lost))
        case .action(.repeated(let report)): window.repeated(report, .failure(lost))
        case .action(.putBack(let call, _)): window.putBack(call, .failure(lost))
        case .action: break
        }
    }

    private func result<Step: Request>(
        of request: Step, _ isLost: Bool
    ) throws -> Result<Step.Reply, StoreError> {
        do {
            let reply = try simulation.perform(request)
            return isLost ? .failure(.redis(.notConnected("lost"))) : .success(reply)
        } catch let error as StoreError {
            return .failure(isLost ? .redis(.notConnected("lost")) : error)
        }
    }

    private func read(_ reply: Checkout.Reply) {
        for given in reply.batches {
            guard let batch = try? Batch(decoding: given.body) else { continue }
            if batch.jobParts.indices.contains(where: { simulation.isPoison(batch.jobID(of: $0)) }) {
                simulation.note("\(name) is crashed by reading \(given.id)")
                isCrashed = true
            }
        }
    }

    /// A description of the worker's state, which helps to find the cause of a failure.
    var description: String {
        let held = window.held.values.sorted { $0.number < $1.number }.map {
            "\($0.id) \($0.ownership) credit \($0.granted)/\($0.count) reported \($0.reported) unreported \($0.unreported)"
                + " in flight \($0.inFlight)\($0.isSuspect ? " suspect" : "")\($0.mustCompare ? " uncompared" : "")"
                + "\($0.isReporting ? " reporting" : "")\($0.isHalted ? " halted" : "")"
        }
        return "\(name) holds \(held), exposure \(window.creditInUse) of \(window.credit.limit), "
            + "shards \(window.shards.tokens.keys.sorted()), unconfirmed \(window.checkouts.unconfirmed.sorted()), wire \(wire.count)"
    }
}
