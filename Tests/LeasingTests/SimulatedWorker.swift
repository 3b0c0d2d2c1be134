import FarmPolicy
import RandomTesting
import StoreProtocol

@testable import Leasing

/// The part of a worker that serves its assigned shards until their leases end, and reports released shards.
final class SimulatedWorker {
    enum Order {
        case shards([Int: FenceToken])
        case lease(end: UInt64)
        case finish
    }

    let index: Int
    private unowned let host: SimulatedHost
    private var farm: LeaseSimulation { host.farm }
    private var life = 0
    private(set) var coordinatorLife = 0
    private(set) var isUp = false
    /// Whether the worker has sent its hello message.
    private(set) var isReady = false
    private var isFinishing = false
    private var stoppedUntil = 0
    private(set) var served: [Int: FenceToken] = [:]
    private var leaving: Set<Int> = []
    private(set) var clock = SendDeadline()
    /// The number of pushes in flight for each shard.
    private var flying: [Int: Int] = [:]
    private var inbox: [Order] = []
    private var lastDelivery = 0

    init(_ index: Int, _ host: SimulatedHost) { (self.index, self.host) = (index, host) }

    private func later(_ delay: Int, _ body: @escaping () throws -> Void) {
        let life = life
        farm.after(delay) { [unowned self] in try live(life, body) }
    }

    private func live(_ life: Int, _ body: @escaping () throws -> Void) throws {
        guard isUp, life == self.life else { return }
        let stop = max(stoppedUntil, host.stoppedUntil)
        guard stop > farm.now else { return try body() }
        farm.after(stop - farm.now) { [unowned self] in try live(life, body) }
    }

    // MARK: Life

    func start() {
        guard !isUp, host.isRunning else { return }
        life += 1
        coordinatorLife = host.life
        (isUp, isReady, isFinishing) = (true, false, false)
        (served, leaving, flying, inbox) = ([:], [], [:], [])
        (clock, stoppedUntil, lastDelivery) = (SendDeadline(), 0, 0)
        later(farm.int(20...200)) { [unowned self] in
            notify { [unowned self] in
                isReady = true
                host.becameReady(self)
            }
            work()
        }
    }

    func stop(until end: Int) { stoppedUntil = max(stoppedUntil, end) }

    func kill() {
        guard isUp else { return }
        (isUp, isReady) = (false, false)
        guard host.isUp, coordinatorLife == host.life else { return }
        host.later(farm.int(1...20)) { [unowned self] in try host.ended(self) }
    }

    /// Called when the control channel has ended because the coordinator exited.
    func lostCoordinator() {
        later(farm.int(0...3)) { [unowned self] in
            isFinishing = true
            later(5000) { [unowned self] in kill() }
            endIfIdle()
        }
    }

    private func endIfIdle() {
        if isFinishing, flying.isEmpty { kill() }
    }

    // MARK: Coordinator

    func send(_ order: Order) {
        guard isUp, coordinatorLife == host.life else { return }
        inbox.append(order)
        lastDelivery = max(lastDelivery, farm.now + farm.int(0...3))
        later(lastDelivery - farm.now) { [unowned self] in try handle(inbox.removeFirst()) }
    }

    private func notify(_ body: @escaping () throws -> Void) {
        let (life, coordinatorLife) = (life, coordinatorLife)
        farm.after(farm.int(0...3)) { [unowned self] in
            try host.live(coordinatorLife) { [unowned self] in if life == self.life, isUp { try body() } }
        }
    }

    private func handle(_ order: Order) throws {
        switch order {
        case .shards(let shards):
            leaving.formUnion(served.keys)
            leaving.subtract(shards.keys)
            served = shards
            for (shard, token) in shards {
                guard farm.reclaimed[shard]?.contains(token) == true else {
                    throw BrokenInvariant(
                        description: "\(host.name) serves \(shard) before it is reclaimed")
                }
                farm.isServed(shard)
            }
        case .lease(let end):
            clock = SendDeadline(end: farm.mutant?.fault == .endsLate ? end + 2700 : end)
        case .finish: isFinishing = true
        }
        for shard in served.keys { try farm.check(host, .shard(shard)) }
        release()
        endIfIdle()
    }

    private func release() {
        let empty = leaving.filter { flying[$0] == nil }.sorted()
        guard !empty.isEmpty else { return }
        leaving.subtract(empty)
        notify { [unowned self] in try host.emptied(empty) }
    }

    // MARK: Pushes

    private func work() {
        later(farm.int(200...2500)) { [unowned self] in
            try begin()
            work()
        }
    }

    private func begin() throws {
        guard !isFinishing, clock.mayStart(at: host.milliseconds) else { return }
        guard let shard = served.keys.sorted().randomElement(using: &farm.random) else { return }
        try farm.check(host, .shard(shard))
        flying[shard, default: 0] += 1
        later(farm.faultOccurs(.deaths, oneIn: 20) ? farm.int(1000...30_000) : farm.int(10...800)) {
            [unowned self] in
            let left = flying[shard, default: 1] - 1
            flying[shard] = left > 0 ? left : nil
            release()
            endIfIdle()
        }
    }

    func maySend(_ shard: Int) -> Bool { isUp && !isFinishing && served[shard] != nil }

    /// The reason why the host must not release the shard now because of this worker; nil if there is no reason.
    func busyReason(_ shard: Int) -> String? {
        guard isUp else { return nil }
        if flying[shard] != nil { return "\(flying[shard] ?? 0) of its pushes are in flight" }
        if served[shard] != nil, !isFinishing { return "worker \(index) serves it" }
        let isToCome = inbox.contains {
            if case .shards(let shards) = $0 { shards[shard] != nil } else { false }
        }
        return isToCome ? "worker \(index) is about to serve it" : nil
    }
}
