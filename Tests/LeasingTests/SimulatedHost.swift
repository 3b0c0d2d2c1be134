import FarmPolicy
import RandomTesting
import StoreProtocol

@testable import Leasing
@testable import StoreProtocol

/// One host with its clock, its connection to Redis, its workers, and a coordinator that uses ``LeaseStateMachine`` like
/// `AppLeases` and `Coordinator`.
final class SimulatedHost {
    typealias Instant = ContinuousClock.Instant

    enum Call {
        case acquire(AcquireLeases)
        case renew(RenewLeases)
        case release(ReleaseLeases)
        case reclaim([LeaseStateMachine.Shard])
        case heartbeat(Heartbeat, predecessor: String, lifetime: Int)
    }

    enum Reply {
        case acquired(AcquireLeases.Reply)
        case renewed([Bool])
        case released
        case reclaimed(fenced: [Int])
        /// The members of the farm; nil if another coordinator owns the host's name.
        case members([Heartbeat.Member]?)
    }

    let name: String
    private(set) var capacity: Int
    unowned let farm: LeaseSimulation
    private(set) lazy var wire = SimulatedWire(self, farm)
    private let offset: Int
    private let rate: Double
    private(set) var workers: [SimulatedWorker] = []
    let map: ShardMap
    /// The time until which the coordinator is suspended while its workers run.
    private(set) var stoppedUntil = 0
    private var coordinatorStop = 0

    // State of the coordinator.
    private(set) var life = 0
    private(set) var isUp = false
    private var isStopping = false
    private var staysDown = false
    private var lockNonce = ""
    private(set) var leaseMachine: LeaseStateMachine?
    private var rounds = LeaseRounds(now: .now)
    private var membership = Membership(shards: LeaseSimulation.shards, now: .now)
    private var awaitingReclaim: Set<Int> = []
    private var isAtWork = false
    private var isRung = false
    private var waitNumber = 0

    init(_ index: Int, _ farm: LeaseSimulation) {
        name = "h\(index)"
        self.farm = farm
        capacity = farm.int(1...3)
        offset = farm.int(0...1_000_000)
        // The clock runs up to 5 % too fast or too slow. The error of a real machine's clock is a thousand times smaller.
        rate = Double(farm.int(950...1050)) / 1000
        map = ShardMap(shards: LeaseSimulation.shards, workers: capacity)
        workers = (0..<capacity).map { SimulatedWorker($0, self) }
    }

    var isRunning: Bool { isUp && !isStopping }
    /// The time on the host's clock, which all processes of the host share.
    var milliseconds: UInt64 { UInt64(offset) + UInt64(Double(farm.now) * rate) }
    private var instant: Instant { Self.start + .milliseconds(milliseconds) }
    private static let start = ContinuousClock.now
    var nonce: String { "\(name)n\(life)" }

    // MARK: Time

    /// Runs `body` after `delay`, if this coordinator process still runs and is not suspended.
    func later(_ delay: Int, _ body: @escaping () throws -> Void) {
        let life = life
        farm.after(delay) { [unowned self] in try live(life, body) }
    }

    func live(_ life: Int, _ body: @escaping () throws -> Void) throws {
        guard isUp, life == self.life else { return }
        let stop = max(stoppedUntil, coordinatorStop)
        guard stop > farm.now else { return try body() }
        farm.after(stop - farm.now) { [unowned self] in try live(life, body) }
    }

    // MARK: The life of the coordinator process

    func start() {
        guard !isUp, !staysDown else { return }
        life += 1
        isUp = true
        isStopping = false
        leaseMachine = nil
        awaitingReclaim = []
        (isAtWork, isRung) = (false, false)
        membership = Membership(shards: LeaseSimulation.shards, now: instant)
        rounds = LeaseRounds(now: instant)
        wire.reset()
        later(farm.int(1...300)) { [unowned self] in awaitLock() }
    }

    private func awaitLock() {
        guard farm.mutant?.fault == .ignoresLock || !workers.contains(where: \.isUp) else {
            return later(50) { [unowned self] in awaitLock() }
        }
        let predecessor = lockNonce
        lockNonce = nonce
        claimHostName(predecessor)
    }

    private func claimHostName(_ predecessor: String) {
        wire.call(.heartbeat(line, predecessor: predecessor, lifetime: 6000)) { [unowned self] reply in
            guard case .members(let members?) = reply else {
                return later(500) { [unowned self] in claimHostName(predecessor) }
            }
            _ = membership.observe(hosts(members), at: instant)
            let shares = membership.shares(of: "demo")
            leaseMachine = LeaseStateMachine(
                host: name, shards: LeaseSimulation.shards, shares: shares, nonce: nonce + ".1",
                predecessor: predecessor, fault: farm.mutant?.leaseFault)
            farm.announce(.hosts)
            try check()
            repeatHeartbeat()
            for worker in workers { worker.start() }
        }
    }

    private func repeatHeartbeat() {
        sendHeartbeat { [unowned self] in later(1000) { [unowned self] in repeatHeartbeat() } }
    }

    private func kill() {
        isUp = false
        for worker in workers { worker.lostCoordinator() }
    }

    /// Stops the coordinator gracefully, like SIGTERM.
    func leave() {
        guard isRunning else { return }
        isStopping = true
        guard leaseMachine != nil else { return kill() }
        sendHeartbeat { [unowned self] in
            farm.announce(.hosts)
            leaseMachine?.handOverAll(at: instant)
            try sendOrders()
            try returnIdleShards()
            try signal()
            for worker in workers { worker.send(.finish) }
            later(20_000) { [unowned self] in for worker in workers { worker.kill() } }
            awaitWorkers()
        }
    }

    private func awaitWorkers() {
        guard workers.contains(where: { $0.isUp || awaitingReclaim.contains($0.index) }) else {
            leaseMachine?.forgetAll()
            let nonce = leaseMachine?.nonce ?? ""
            return wire.call(.release(ReleaseLeases(nonce: nonce, tokens: nil))) { [unowned self] _ in
                farm.announce(.leasesReleased(app: "demo"))
                wire.call(.heartbeat(line, predecessor: "", lifetime: 0)) { [unowned self] _ in
                    farm.announce(.hostLeft(host: name))
                    isUp = false
                }
            }
        }
        later(20) { [unowned self] in awaitWorkers() }
    }

    // MARK: Leases, like `keepLeasesOn` and `AppLeases.keep`

    func signal() throws {
        isRung = true
        guard !isAtWork else { return }
        waitNumber += 1
        try check()
    }

    private func check() throws {
        guard let leaseMachine, !isAtWork else { return }
        isRung = false
        let isRenewal = rounds.isRenewalDue(at: instant)
        guard isRenewal || leaseMachine.isDue(at: instant) else { return rest() }
        if isRenewal { rounds.begin(at: instant) }
        isAtWork = true
        _ = leaseMachine.beginRound()
        try sendOrders()
        try go(leaseMachine, from: isRenewal ? milliseconds : nil)
    }

    private func rest() {
        isAtWork = false
        waitNumber += 1
        let (number, isPressing) = (waitNumber, leaseMachine?.isDue(at: instant) == true)
        let pause = isRung ? .milliseconds(1) : rounds.pause(isPressing: isPressing, at: instant)
        later(max(1, pause.wholeMilliseconds)) { [unowned self] in if number == waitNumber { try check() } }
    }

    /// - Parameter start: the time at which a renewal of all leases started; nil if not all leases are renewed.
    private func go(_ leaseMachine: LeaseStateMachine, from start: UInt64?) throws {
        try sendOrders()
        let now = instant
        guard let step = leaseMachine.nextStep(at: now) else { return try ended(true, from: start) }
        func make(_ call: Call, _ take: @escaping (Reply) throws -> Void) {
            wire.call(call) { [unowned self] reply in
                guard let reply else {
                    leaseMachine.failed()
                    return try ended(false, from: start)
                }
                try take(reply)
                try go(leaseMachine, from: start)
            }
        }
        switch step {
        case .release(let call):
            make(.release(call)) { [unowned self] _ in
                leaseMachine.released(call)
                farm.announce(.leasesReleased(app: "demo"))
            }
        case .renew(let call):
            make(.renew(call)) { if case .renewed(let kept) = $0 { _ = leaseMachine.renewed(call, kept) } }
        case .acquire(let call):
            make(.acquire(call)) {
                if case .acquired(let reply) = $0 { leaseMachine.acquired(call, reply, at: now) }
            }
        case .reclaim(let shards):
            wire.call(.reclaim(shards)) { [unowned self] reply in
                if case .reclaimed(let fenced) = reply {
                    if shards.contains(where: {
                        fenced.contains($0.number) && leaseMachine.fenceTokens[$0.number] == $0.token
                    }) {
                        leaseMachine.fenced()
                    }
                    leaseMachine.reclaimed(shards)
                }
                try go(leaseMachine, from: start)
            }
        }
    }

    private func ended(_ isConfirmed: Bool, from start: UInt64?) throws {
        if let start {
            let from = farm.mutant?.fault == .countsFromTheReply ? milliseconds : start
            switch rounds.ended(isConfirmed: isConfirmed, from: from, to: milliseconds, at: instant) {
            case .granted(let end): for worker in workers { worker.send(.lease(end: end)) }
            case .pending: break
            case .expired:
                leaseMachine?.forgetAll()
                try sendOrders()
            }
        }
        rest()
    }

    private func sendOrders() throws {
        guard let leaseMachine, leaseMachine.takeChange() else { return }
        for worker in workers where worker.isReady { assign(worker, leaseMachine) }
        for lease in LeaseSimulation.leases { try farm.check(self, lease) }
    }

    private func assign(_ worker: SimulatedWorker, _ leaseMachine: LeaseStateMachine) {
        let isAwaitingReclaim = awaitingReclaim.contains(worker.index)
        worker.send(
            .shards(
                leaseMachine.served.filter { !isAwaitingReclaim && map.worker(of: $0.key) == worker.index })
        )
    }

    // MARK: Hosts, like `Coordinator.beat`

    private var line: Heartbeat {
        Heartbeat(
            host: name, nonce: nonce, capacity: isStopping ? 0 : capacity, apps: isStopping ? [] : ["demo"])
    }

    private func hosts(_ members: [Heartbeat.Member]) -> [Membership.Host] {
        members.map { Membership.Host(name: $0.name, capacity: $0.capacity, apps: Set($0.apps)) }
    }

    private func sendHeartbeat(then: @escaping () throws -> Void = {}) {
        wire.call(.heartbeat(line, predecessor: "", lifetime: 6000)) { [unowned self] reply in
            guard case .members(let members) = reply, let leaseMachine else { return try then() }
            // Another coordinator owns the host's name, so this coordinator exits.
            guard let members else { return kill() }
            if membership.observe(hosts(members), at: instant) != nil {
                leaseMachine.shares = membership.shares(of: "demo")
                leaseMachine.makeRoundDue()
                try signal()
            }
            handOverOthers()
            _ = leaseMachine.keepOverdue(at: instant)
            guard isStopping || leaseMachine.leaving.count <= HandOver.most else {
                throw BrokenInvariant(description: "\(name) hands over \(leaseMachine.leaving)")
            }
            try sendOrders()
            try returnIdleShards()
            try then()
        }
    }

    func reconnected() throws {
        rounds.renewSoon(at: instant)
        try signal()
    }

    private func handOverOthers() {
        if membership.isStable(at: instant), !isStopping { leaseMachine?.handOverOthers(at: instant) }
    }

    func receive(_ command: FarmMessage) {
        later(0) { [unowned self] in
            guard let leaseMachine else { return }
            if case .hostLeft(let host) = command { membership.announcedExit(of: host, at: instant) }
            guard case .leasesReleased = command else { return sendHeartbeat() }
            leaseMachine.makeRoundDue()
            try signal()
        }
    }

    private func returnIdleShards() throws {
        let idle = workers.filter { !$0.isUp && !awaitingReclaim.contains($0.index) }.map(\.index)
        try emptied(leaseMachine?.leaving.filter { idle.contains(map.worker(of: $0)) } ?? [])
    }

    // MARK: Workers

    func emptied(_ shards: some Sequence<Int>) throws {
        guard leaseMachine?.shardsEmptied(shards) == true else { return }
        handOverOthers()
        try sendOrders()
        try signal()
    }

    func becameReady(_ worker: SimulatedWorker) {
        worker.send(.lease(end: rounds.sendDeadline.end))
        if let leaseMachine { assign(worker, leaseMachine) }
    }

    func ended(_ worker: SimulatedWorker) throws {
        awaitingReclaim.insert(worker.index)
        try reclaim(worker)
    }

    private func reclaim(_ worker: SimulatedWorker) throws {
        wire.call(.reclaim([])) { [unowned self] reply in
            guard reply != nil else { return later(300) { [unowned self] in try reclaim(worker) } }
            awaitingReclaim.remove(worker.index)
            try emptied(leaseMachine?.leaving.filter { map.worker(of: $0) == worker.index } ?? [])
            if !isStopping { later(farm.int(1...2000)) { worker.start() } }
        }
    }

    // MARK: Trouble

    func cutOff(for time: Int) { wire.cutUntil = max(wire.cutUntil, farm.now + time) }

    func injectFault() {
        let worker = workers[farm.int(0...workers.count - 1)]
        switch farm.int(0...6) {
        case 0: worker.stop(until: stopEnd(20_000))
        case 1: worker.kill()
        case 2: coordinatorStop = stopEnd(20_000)
        case 3: kill()
        case 4: stoppedUntil = stopEnd(30_000)
        case 5:
            kill()
            for worker in workers { worker.kill() }
        default:
            later(0) { [unowned self] in
                leaseMachine?.fenced()
                try signal()
            }
        }
        if !isUp { farm.after(farm.int(100...20_000)) { [unowned self] in start() } }
    }

    private func stopEnd(_ longest: Int) -> Int {
        min(farm.now + farm.int(500...longest), LeaseSimulation.trouble + 3000)
    }

    func change() {
        if !isUp { return start() }
        if farm.chance(2) {
            leave()
            farm.after(farm.int(1000...30_000)) { [unowned self] in start() }
        } else {
            capacity = farm.int(0...3)
        }
    }

    /// Ends the faults of this host.
    func rejoin() {
        wire.cutUntil = 0
        capacity = workers.count
        if !isUp, farm.chance(2) || !farm.hosts.contains(where: \.isRunning) { start() }
        staysDown = !isRunning
    }

    // MARK: Leases that the host considers its own

    struct AssumedOwner {
        let who: String
        /// The time, in true milliseconds, for which the host still considers the lease its own.
        let left: Int
        let nonce: String
    }

    func assumedOwner(in lease: LeaseID) -> AssumedOwner? {
        var best: AssumedOwner?
        func note(_ who: String, _ end: UInt64, _ life: Int) {
            let left = end > milliseconds ? Int(Double(end - milliseconds) / rate) : 0
            if left > best?.left ?? 0 { best = AssumedOwner(who: who, left: left, nonce: "\(name)n\(life)") }
        }
        if isUp, let leaseMachine {
            switch lease {
            case .intake where leaseMachine.intake != nil:
                note("the coordinator of \(name)", rounds.sendDeadline.end, life)
            case .shard(let shard) where leaseMachine.fenceTokens[shard] != nil:
                note("the coordinator of \(name)", rounds.sendDeadline.end, life)
            default: break
            }
        }
        guard case .shard(let shard) = lease else { return best }
        for worker in workers where worker.maySend(shard) {
            note("worker \(worker.index) of \(name)", worker.clock.end, worker.coordinatorLife)
        }
        return best
    }

    func busyReason(_ shard: Int) -> String? { workers.lazy.compactMap { $0.busyReason(shard) }.first }

    func serves(_ lease: LeaseID, _ token: FenceToken) -> Bool {
        guard case .shard(let shard) = lease else { return leaseMachine?.intake == token }
        let worker = workers[map.worker(of: shard)]
        return worker.served[shard] == token && worker.maySend(shard)
            && worker.clock.mayStart(at: milliseconds)
    }

    var unfinished: String? {
        guard let leaseMachine, !isStopping else { return "its start or its end before it" }
        if !leaseMachine.pendingReleases.isEmpty { return "\(leaseMachine.pendingReleases) to give back" }
        if !leaseMachine.leaving.isEmpty { return "\(leaseMachine.leaving) leaving" }
        return leaseMachine.unreclaimed.isEmpty ? nil : "\(leaseMachine.unreclaimed) to reclaim"
    }
}
