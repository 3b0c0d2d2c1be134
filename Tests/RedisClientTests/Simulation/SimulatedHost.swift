import PushModel

@testable import RedisClient
@testable import StoreProtocol

/// A coordinator that makes the same calls as a real one: for leases, intake, results consumer, promoter and two workers.
final class SimulatedHost {
    static let jobBytes = 1000
    private static let lease = Duration.seconds(10)
    private static let margin: Int64 = 2_000_000
    private static let renewInterval: Int64 = 3_000_000
    private static let reclaimInterval: Int64 = 5_000_000

    /// How a worker ended, as its host sees it.
    enum End { case regular, crash, kill }

    let name: String
    private(set) var workers: [SimulatedWorker] = []
    private unowned let simulation: Simulation
    /// The instance name of this process.
    private var instance: String
    private var nonce: String
    private var nonceReplacements = 0
    private var predecessor = ""
    private var tokens: [LeaseID: FenceToken] = [:]
    /// Acquired shards whose earlier in-flight batches are not reclaimed yet. No worker gets such a shard.
    private var unreclaimed: Set<Int> = []
    /// Shards that the host hands over, each with the turn until which the host waits for the shard's batches.
    private var leaving: [Int: Int] = [:]
    private var pendingReleases: [LeaseID: FenceToken] = [:]
    /// Ended workers whose batches are not reclaimed yet.
    private var dead: [(name: String, slot: Int, end: End)] = []
    /// The times of worker kills in the last minute.
    private var kills: [Int64] = []
    private var leaseEnd: Int64 = 0
    private var lastKept: Int64 = -renewInterval
    private var lastReclaimed: Int64 = -reclaimInterval
    /// Whether a script replied FENCED, so that the host must check its leases.
    private var isDoubtful = false
    private var stoppedUntil = 0
    private lazy var intake = SimulatedIntake(simulation)
    private lazy var campaigns = SimulatedCampaignIntake(simulation)
    private lazy var done = SimulatedDoneMarker(simulation)
    private lazy var registry = SimulatedRegistryWriter(simulation)
    private lazy var consumer = SimulatedResultsConsumer(name, simulation)

    init(name: String, simulation: Simulation) {
        (self.name, self.simulation) = (name, simulation)
        instance = simulation.name(name)
        nonce = instance
    }

    /// Replaces the process with a new process.
    ///
    /// The new process has the host's lock, so it knows that the old process has exited. It takes over the old leases at once.
    func restart(after turns: Int) {
        predecessor = instance
        instance = simulation.name(name)
        (nonce, nonceReplacements) = (instance, 0)
        (workers, dead, tokens, leaving, unreclaimed, pendingReleases) = ([], [], [:], [:], [], [:])
        (leaseEnd, lastKept, lastReclaimed, isDoubtful) = (
            0, -Self.renewInterval, -Self.reclaimInterval, false
        )
        intake = SimulatedIntake(simulation)
        campaigns.end()
        campaigns = SimulatedCampaignIntake(simulation)
        done = SimulatedDoneMarker(simulation)
        registry = SimulatedRegistryWriter(simulation)
        consumer = SimulatedResultsConsumer(name, simulation)
        stoppedUntil = simulation.turn + turns
    }

    func stop(for turns: Int, withWorkers: Bool) {
        simulation.note("\(name) stops for \(turns)")
        stoppedUntil = simulation.turn + turns
        if withWorkers { for worker in workers { worker.stop(for: turns) } }
    }

    func resume() {
        stoppedUntil = 0
        for worker in workers { worker.resume() }
    }

    func lose(_ worker: SimulatedWorker, _ end: End) {
        simulation.note("\(worker.name) ends: \(end)")
        workers.removeAll { $0 === worker }
        dead.append((worker.name, worker.slot, end))
        if end == .kill { kills.append(simulation.clock.now) }
    }

    private func loss(_ end: End, hadSent: Bool) -> WorkerExit {
        switch end {
        case .regular: return .regular
        case .crash: return .crash(hadSent: hadSent)
        case .kill:
            kills.removeAll { $0 < simulation.clock.now - 60_000_000 }
            return .kill(hadSent: hadSent, recent: max(1, kills.count))
        }
    }

    /// From now on the host is connected to a different Redis server.
    /// Calls in flight get no reply, and the host renews its leases at once.
    func redisIsAnother() {
        for worker in workers { worker.redisIsAnother() }
        lastKept = -Self.renewInterval
    }

    /// Starts to hand over one of this host's shards. Any host may acquire it afterwards.
    func handOver() {
        let mine = (0..<Simulation.shards).filter { tokens[.shard($0)] != nil && leaving[$0] == nil }
        guard let shard = simulation.pick(mine) else { return }
        simulation.note("\(name) hands over shard \(shard)")
        leaving[shard] = simulation.turn + 150
        assign()
    }

    func step() throws {
        guard simulation.turn >= stoppedUntil else { return }
        do {
            let now = simulation.clock.now
            if now - lastKept >= Self.renewInterval || !pendingReleases.isEmpty || !unreclaimed.isEmpty
                || isDoubtful
            {
                try keepLeases()
            }
            if now >= leaseEnd { forgetLeases() }
            if simulation.isQuiet { return try doAll() }
            switch simulation.below(20) {
            case 0, 1: try recover()
            case 2, 3, 4: if let token = tokens[.intake] { try stepIntake(token) }
            case 5, 6, 7: try consumer.step()
            case 8:
                _ = try simulation.attempt(PromoteDue(limit: 1 + simulation.below(5)))
                if tokens[.intake] != nil { try cancelBatches() }
            case 9: addWorker()
            default: try stepWorker()
            }
        } catch StoreError.fenced {
            isDoubtful = true
        }
    }

    private func stepIntake(_ token: FenceToken) throws {
        if simulation.profile.campaigns > 0, simulation.chance(60) {
            for _ in 0..<4 { try campaigns.step(token) }
            for _ in 0..<3 { try done.step(token) }
            for _ in 0..<4 { try registry.step() }
        } else {
            try intake.step(token)
        }
    }

    /// Finishes the remaining work without faults.
    private func doAll() throws {
        try recover()
        for _ in 0..<2 { addWorker() }
        for _ in 0..<4 { if let token = tokens[.intake] { try intake.step(token) } }
        if simulation.profile.campaigns > 0, let token = tokens[.intake] {
            for _ in 0..<8 {
                try done.step(token)
                try campaigns.step(token)
            }
        }
        for _ in 0..<2 { try consumer.step() }
        if tokens[.intake] != nil { try cancelBatches() }
        try simulation.perform(PromoteDue(limit: 5))
        for _ in 0..<6 { try stepWorker() }
    }

    /// Cancels the unsent pushes of cancelled jobs.
    private func cancelBatches() throws {
        guard simulation.profile.cancels > 0, try !simulation.pauses(.cancels).isEmpty else { return }
        guard let page = try simulation.attempt(ScanBatches()) else { return }
        _ = try simulation.attempt(CancelBatches(page.items))
    }

    private func stepWorker() throws {
        guard let worker = simulation.pick(workers) else { return }
        try worker.step()
        if worker.isFenced {
            (isDoubtful, worker.isFenced) = (true, false)
        }
        emptied(worker.released)
        worker.released = []
        if worker.isCrashed {
            lose(worker, .crash)
        } else if worker.isGone {
            lose(worker, .regular)
        }
    }

    private func addWorker() {
        let free = [0, 1].first { slot in
            !workers.contains { $0.slot == slot } && !dead.contains { $0.slot == slot }
        }
        guard let free else { return }
        let worker = SimulatedWorker(name: simulation.name("\(name)-w"), slot: free, simulation: simulation)
        worker.leaseEnd = leaseEnd
        workers.append(worker)
        assign()
    }

    // MARK: Leases

    private func keepLeases() throws {
        lastKept = simulation.clock.now
        if isDoubtful { replaceNonce() }
        leaving = leaving.filter { $0.value > simulation.turn && !simulation.isQuiet }
        if !pendingReleases.isEmpty {
            let request = ReleaseLeases(nonce: nonce, tokens: pendingReleases)
            guard try simulation.attempt(request) != nil else { return }
            pendingReleases = [:]
        }
        if !tokens.isEmpty {
            let fields = tokens.keys.sorted { $0.name < $1.name }
            let request = RenewLeases(nonce: nonce, host: name, lifetime: Self.lease, leases: fields)
            guard let kept = try simulation.attempt(request) else { return }
            for (field, isKept) in zip(fields, kept) where !isKept { lose(field) }
        }
        guard try acquire() else { return }
        leaseEnd = lastKept + 10_000_000 - Self.margin
        for worker in workers { worker.leaseEnd = leaseEnd }
        try reclaimWon()
        assign()
    }

    private func lose(_ field: LeaseID) {
        tokens[field] = nil
        guard case .shard(let shard) = field else { return }
        leaving[shard] = nil
        unreclaimed.remove(shard)
    }

    /// Forgets all leases and continues with a new nonce, so that new fencing tokens differ from all old ones.
    /// The host may acquire its old leases at once, because they belonged to this process.
    private func replaceNonce() {
        nonceReplacements += 1
        (isDoubtful, pendingReleases) = (false, [:])
        (predecessor, nonce) = (instance, "\(instance).\(nonceReplacements)")
        forgetLeases()
    }

    private func acquire() throws -> Bool {
        let all: [LeaseID] = [.intake] + (0..<Simulation.shards).map { .shard($0) }
        let wanted = all.filter {
            tokens[$0] == nil && (simulation.isQuiet || simulation.chance(60))
        }
        guard !wanted.isEmpty else { return true }
        let request = AcquireLeases(
            nonce: nonce, host: name, lifetime: Self.lease, predecessor: predecessor, leases: wanted)
        guard let reply = try simulation.attempt(request) else { return false }
        for (field, state) in zip(wanted, reply.states) {
            guard case .ours(let token) = state else { continue }
            tokens[field] = token
            if case .shard(let shard) = field { unreclaimed.insert(shard) }
        }
        return true
    }

    /// Reclaims the batches of newly acquired shards that previous owners left in flight.
    private func reclaimWon() throws {
        let won = unreclaimed.sorted().compactMap { shard in tokens[.shard(shard)].map { (shard, $0) } }
        guard !won.isEmpty else { return }
        let request = Reclaim(.allBut(workers.map(\.name)), shards: won)
        guard let reply = try simulation.attempt(request) else { return }
        if !reply.fenced.isEmpty { isDoubtful = true }
        unreclaimed = []
    }

    /// Called when no worker holds a batch of these shards any more. Releases the shards that are being handed over.
    private func emptied(_ shards: some Sequence<Int>) {
        for shard in shards where leaving[shard] != nil {
            guard let token = tokens[.shard(shard)] else { continue }
            lose(.shard(shard))
            pendingReleases[.shard(shard)] = token
        }
    }

    /// Forgets all leases. The host owns no shard until Redis has confirmed a lease again.
    private func forgetLeases() {
        guard !tokens.isEmpty else { return }
        (tokens, unreclaimed, leaving) = ([:], [], [:])
        assign()
    }

    private func assign() {
        for worker in workers {
            var shards: [Int: FenceToken] = [:]
            for shard in 0..<Simulation.shards
            where shard % 2 == worker.slot && !unreclaimed.contains(shard) && leaving[shard] == nil {
                shards[shard] = tokens[.shard(shard)]
            }
            worker.assign(shards)
        }
    }

    // MARK: Recovery

    private var shards: [(number: Int, token: FenceToken)] {
        (0..<Simulation.shards).compactMap { shard in tokens[.shard(shard)].map { (shard, $0) } }
    }

    private func recover() throws {
        if let gone = dead.first {
            let suspect = ReadInFlightShards(worker: gone.name, shards: shards.map(\.number))
            guard let suspects = try simulation.attempt(suspect)?.suspects else { return }
            let loss = loss(gone.end, hadSent: suspects > 0)
            guard let reply = try simulation.attempt(Reclaim(.gone([gone.name]), exit: loss, shards: shards))
            else { return }
            dead.removeFirst()
            emptied(leaving.keys.sorted().filter { $0 % 2 == gone.slot })
            if !reply.fenced.isEmpty { isDoubtful = true }
        } else if !shards.isEmpty, simulation.clock.now - lastReclaimed >= Self.reclaimInterval {
            let request = Reclaim(.allBut(workers.map(\.name)), shards: shards)
            guard let reply = try simulation.attempt(request) else { return }
            lastReclaimed = simulation.clock.now
            if !reply.fenced.isEmpty { isDoubtful = true }
        }
    }
}
