import PushModel

@testable import FarmStore

/// A coordinator as the scripts see it: leases, intake, gatherer, promoter, two workers.
final class SimulatedHost {
    /// Bytes of a job at most.
    static let jobBytes = 1000
    private static let lease = Duration.seconds(10)
    private static let renewInterval: Int64 = 3_000_000
    private static let sweepInterval: Int64 = 5_000_000

    let name: String
    private(set) var nonce: String
    var workers: [SimulatedWorker] = []
    unowned let simulation: Simulation
    private var predecessor = ""
    private(set) var tokens: [LeaseField: FenceToken] = [:]
    /// Shards that it gives to others, until so many turns have passed.
    private var leaving: [Int: Int] = [:]
    /// Reaped, and not yet taken back from.
    private var dead: [(name: String, end: End)] = []
    /// When workers were killed in the last minute.
    private var kills: [Int64] = []
    private var leaseEnd: Int64 = 0
    private var lastKept: Int64 = -renewInterval
    private var lastSwept: Int64 = -sweepInterval
    /// A script said FENCED.
    private var isDoubtful = false
    private var stoppedUntil = 0
    private lazy var intake = SimulatedIntake(simulation)
    private lazy var gatherer = SimulatedGatherer(name, simulation)

    init(name: String, simulation: Simulation) {
        (self.name, self.simulation) = (name, simulation)
        nonce = simulation.name(name)
    }

    /// A new process in the place of the old one.
    ///
    /// It holds the host's lock, so it knows that the old one is gone, and takes its leases over at once.
    func restart(after turns: Int) {
        predecessor = nonce
        nonce = simulation.name(name)
        (workers, dead, tokens, leaving) = ([], [], [:], [:])
        (leaseEnd, lastKept, lastSwept, isDoubtful) = (0, -Self.renewInterval, -Self.sweepInterval, false)
        intake = SimulatedIntake(simulation)
        gatherer = SimulatedGatherer(name, simulation)
        stoppedUntil = simulation.turn + turns
    }

    func stop(for turns: Int, withWorkers: Bool) {
        simulation.note("\(name) stops for \(turns)")
        stoppedUntil = simulation.turn + turns
        if withWorkers { for worker in workers { worker.stop(for: turns) } }
    }

    /// How a worker ended, as its host sees it.
    enum End { case orderly, crash, kill }

    func lose(_ worker: SimulatedWorker, _ end: End) {
        simulation.note("\(worker.name) ends: \(end)")
        workers.removeAll { $0 === worker }
        dead.append((worker.name, end))
        if end == .kill { kills.append(simulation.clock.now) }
    }

    private func loss(_ end: End, hadSent: Bool) -> WorkerLoss {
        switch end {
        case .orderly: return .innocent
        case .crash: return .crash(hadSent: hadSent)
        case .kill:
            kills.removeAll { $0 < simulation.clock.now - 60_000_000 }
            return .kill(hadSent: hadSent, recent: max(1, kills.count))
        }
    }

    func redisIsAnother() {
        for worker in workers { worker.redisIsAnother() }
        gatherer.redisIsAnother()
    }

    /// Gives one of its shards to whoever wants it, gracefully.
    func handOver() {
        let mine = (0..<Simulation.shards).filter { tokens[.shard($0)] != nil && leaving[$0] == nil }
        guard let shard = simulation.pick(mine) else { return }
        simulation.note("\(name) gives shard \(shard) away")
        leaving[shard] = simulation.turn + 150
        assign()
    }

    func step() throws {
        guard simulation.turn >= stoppedUntil else { return }
        do {
            let now = simulation.clock.now
            if now - lastKept >= Self.renewInterval { try keepLeases() }
            if now >= leaseEnd { forget() }
            switch simulation.below(20) {
            case 0, 1, 2: try recover()
            case 3, 4, 5: if let token = tokens[.intake] { try intake.step(token) }
            case 6, 7, 8: try gatherer.step()
            case 9: _ = try simulation.attempt(Promote(limit: 1 + simulation.below(5)))
            case 10: hire()
            default: try stepWorker()
            }
        } catch StoreError.fenced {
            isDoubtful = true
        }
    }

    private func stepWorker() throws {
        guard let worker = simulation.pick(workers) else { return }
        try worker.step()
        if worker.isFenced { isDoubtful = true }
        if worker.isCrashed {
            lose(worker, .crash)
        } else if worker.isGone {
            lose(worker, .orderly)
        }
    }

    private func hire() {
        guard let slot = [0, 1].first(where: { slot in !workers.contains { $0.slot == slot } }), dead.isEmpty
        else { return }
        let worker = SimulatedWorker(name: simulation.name("\(name)-w"), slot: slot, simulation: simulation)
        worker.leaseEnd = leaseEnd
        workers.append(worker)
        assign()
    }

    // MARK: Leases

    private func keepLeases() throws {
        lastKept = simulation.clock.now
        if isDoubtful {
            // A new nonce makes tokens that no script has ever seen.
            (predecessor, nonce, isDoubtful) = (nonce, simulation.name(name), false)
            forget()
        }
        try giveAway()
        if !tokens.isEmpty {
            let fields = tokens.keys.sorted { $0.name < $1.name }
            let request = RenewLeases(nonce: nonce, host: name, lease: Self.lease, fields: fields)
            guard let kept = try simulation.attempt(request) else { return }
            for (field, isKept) in zip(fields, kept) where !isKept { tokens[field] = nil }
        }
        let all: [LeaseField] = [.intake] + (0..<Simulation.shards).map { .shard($0) }
        let wanted = all.filter {
            tokens[$0] == nil && !isLeaving($0) && (simulation.isQuiet || simulation.chance(60))
        }
        if !wanted.isEmpty {
            let request = AcquireLeases(
                nonce: nonce, host: name, lease: Self.lease, predecessor: predecessor, fields: wanted)
            guard let reply = try simulation.attempt(request) else { return }
            for (field, answer) in zip(wanted, reply.answers) {
                if case .ours(let token) = answer { tokens[field] = token }
            }
        }
        leaseEnd = lastKept + 8_000_000
        for worker in workers { worker.leaseEnd = leaseEnd }
        assign()
    }

    private func isLeaving(_ field: LeaseField) -> Bool {
        if case .shard(let shard) = field { leaving[shard] != nil } else { false }
    }

    /// Gives back what no worker holds anything of any more.
    private func giveAway() throws {
        leaving = leaving.filter { $0.value > simulation.turn && !simulation.isQuiet }
        let idle = leaving.keys.sorted().filter { shard in
            tokens[.shard(shard)] != nil && !workers.contains { $0.holds(shard: shard) }
        }
        guard !idle.isEmpty else { return }
        for shard in idle { tokens[.shard(shard)] = nil }
        assign()
        _ = try simulation.attempt(ReleaseLeases(nonce: nonce, fields: idle.map { .shard($0) }))
    }

    /// Without Redis's confirmation nothing is ours.
    private func forget() {
        guard !tokens.isEmpty else { return }
        tokens = [:]
        assign()
    }

    private func assign() {
        // Of a shard that goes to another host nothing new is checked out, but what is held is reported.
        for worker in workers {
            var shards: [Int: FenceToken] = [:]
            for shard in 0..<Simulation.shards where shard % 2 == worker.slot {
                if leaving[shard] == nil || worker.holds(shard: shard) {
                    shards[shard] = tokens[.shard(shard)]
                }
            }
            worker.assign(shards)
        }
    }

    // MARK: Recovery

    private var shards: [(number: Int, token: FenceToken)] {
        (0..<Simulation.shards).compactMap { shard in tokens[.shard(shard)].map { (shard, $0) } }
    }

    private func recover() throws {
        guard !shards.isEmpty else { return }
        if let gone = dead.first {
            let accused = ReadAccused(worker: gone.name, shards: shards.map(\.number))
            guard let suspects = try simulation.attempt(accused)?.suspects else { return }
            let loss = loss(gone.end, hadSent: suspects > 0)
            guard let reply = try simulation.attempt(Reclaim(.gone([gone.name]), loss: loss, shards: shards))
            else { return }
            dead.removeFirst()
            if !reply.fenced.isEmpty { isDoubtful = true }
        } else if simulation.clock.now - lastSwept >= Self.sweepInterval {
            let request = Reclaim(.allBut(workers.map(\.name)), shards: shards)
            guard let reply = try simulation.attempt(request) else { return }
            lastSwept = simulation.clock.now
            if !reply.fenced.isEmpty { isDoubtful = true }
        }
    }
}
