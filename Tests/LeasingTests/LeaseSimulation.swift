import FarmPolicy
import RandomTesting
import StoreProtocol

@testable import Leasing
@testable import StoreProtocol

/// Several hosts with coordinators and workers share one Redis. One seed and one simulated time decide all events. Each host has
/// its own clock. Replies are late or lost, calls are executed long after their timeout, processes stop, die and return, and
/// hosts join and leave.
final class LeaseSimulation {
    typealias Instant = ContinuousClock.Instant

    /// The kinds of faults that a run injects.
    struct Troubles: OptionSet {
        let rawValue: Int
        /// Calls get no reply. Redis executes such a call at once, much later, or never.
        static let losses = Troubles(rawValue: 1)
        /// Processes and hosts stop, die and return.
        static let deaths = Troubles(rawValue: 2)
        /// Hosts join, leave and change their number of workers.
        static let changes = Troubles(rawValue: 4)
        /// The clock of Redis jumps.
        static let jumps = Troubles(rawValue: 8)
        static let all: Troubles = [.losses, .deaths, .changes, .jumps]
    }

    /// The duration of the phase with faults, in milliseconds.
    static let trouble = 40_000
    static let shards = 8
    static let leases = [LeaseID.intake] + (0..<shards).map { .shard($0) }
    var random: SplitMix
    let troubles: Troubles
    let mutant: LeaseMutant?
    /// The true time in milliseconds.
    private(set) var now = 0
    var redis = ModelLeases()
    /// How far the Redis clock is ahead of the true time, in milliseconds, and the time and size of each forward jump.
    private(set) var redisAhead = 0
    private var jumps: [(at: Int, by: Int)] = []
    /// The fencing tokens under which each shard was reclaimed.
    private(set) var reclaimed: [Int: Set<FenceToken>] = [:]
    /// Each change of a lease's owner: the lease, the previous host and the new host.
    private(set) var moves: [(lease: LeaseID, from: String, to: String)] = []
    /// For each shard without a worker: the time of its release.
    private var free: [Int: Int] = [:]
    private var longestGap = 0
    private(set) var hosts: [SimulatedHost] = []
    private var isQuiet = false
    private var events: [Event] = []
    private var made = 0

    private struct Event {
        /// The time of the event in the high bits and the event's number in the low bits. Events run in the order of this key.
        let key: Int
        let body: () throws -> Void

        var at: Int { key >> 32 }
    }

    init(seed: UInt64, troubles: Troubles, mutant: LeaseMutant? = nil) {
        random = SplitMix(seed: seed)
        self.troubles = troubles
        self.mutant = mutant
        redis.releasesByNonce = mutant?.fault == .releasesByNonce
        for index in 0..<int(2...4) {
            let host = SimulatedHost(index, self)
            hosts.append(host)
            after(index == 0 ? 0 : int(0...20_000)) { host.start() }
        }
        after(1000) { [unowned self] in try trouble() }
    }

    func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    func chance(_ oneIn: Int) -> Bool { int(1...oneIn) == 1 }
    /// Decides at random whether a fault of this kind happens now.
    func faultOccurs(_ kind: Troubles, oneIn: Int) -> Bool {
        !isQuiet && troubles.contains(kind) && chance(oneIn)
    }

    var redisTime: Int { now + redisAhead + 1_000_000 }

    func after(_ delay: Int, _ body: @escaping () throws -> Void) {
        made += 1
        push(Event(key: (now + delay) << 32 | made, body: body))
    }

    func run(until end: Int) throws {
        while let event = events.first, event.at <= end {
            pop()
            now = event.at
            try event.body()
        }
        now = end
    }

    // MARK: The whole run

    func run() throws {
        try run(until: Self.trouble)
        isQuiet = true
        for host in hosts { host.rejoin() }
        // The time limit is long: stopped processes must continue, leases must expire, and a clock that was set back must catch
        // up.
        try awaitStableOwners("after the trouble", within: 120_000)
        let joining = SimulatedHost(hosts.count, self)
        hosts.append(joining)
        try step("after a host has come") { joining.start() }
        guard let leaving = living.randomElement(using: &random), living.count > 1 else { return }
        try step("after a host has gone") { leaving.leave() }
    }

    private var living: [SimulatedHost] { hosts.filter(\.isRunning) }

    /// One host joins or leaves.
    /// Checks that each lease changes its owner at most once, and that a shard is without a worker for less than 5 seconds.
    private func step(_ when: String, _ change: () -> Void) throws {
        let before = assigned
        (free, longestGap, moves) = ([:], 0, [])
        change()
        try awaitStableOwners(when, within: 45_000)
        let after = assigned
        let different = Self.leases.filter { before[$0] != after[$0] }
        guard moves.count == different.count else {
            throw BrokenInvariant(description: "\(when) there were the moves \(moves) for \(different)")
        }
        guard longestGap < 5000 else {
            throw BrokenInvariant(description: "\(when) a shard stood still for \(longestGap) ms")
        }
    }

    /// Waits until every shard has the owner that placement assigns, and checks that the shard keeps this owner.
    private func awaitStableOwners(_ when: String, within time: Int) throws {
        let deadline = now + time
        // Hosts move shards only after the membership has not changed for ten seconds.
        try run(until: now + 13_000)
        while let rest = astray {
            guard now < deadline else { throw BrokenInvariant(description: "\(when): \(rest)") }
            try run(until: now + 1000)
        }
        try run(until: now + 5000)
        if let rest = astray { throw BrokenInvariant(description: "\(when), and not for good: \(rest)") }
    }

    /// Describes the first shard that does not have the owner that placement assigns.
    private var astray: String? {
        let assigned = assigned
        for lease in Self.leases {
            guard let owner = assigned[lease] else { continue }
            guard let token = redis.token(of: lease), token.host == owner, redis.isHeld(lease, at: redisTime)
            else { return "\(lease) is not \(owner)'s: \(redis.owners[lease] as Any)" }
            guard let host = hosts.first(where: { $0.name == owner }), host.serves(lease, token) else {
                return "\(owner) owns \(lease), and no worker serves it"
            }
        }
        for host in hosts where host.isUp {
            if let rest = host.unfinished { return "\(host.name) still has \(rest)" }
        }
        return nil
    }

    /// The owner that placement assigns to each lease.
    private var assigned: [LeaseID: String] {
        let members = living.map { (name: $0.name, capacity: $0.capacity) }
        guard !members.isEmpty else { return [:] }
        let shares = HostShares(app: "demo", hosts: members, shards: LeaseSimulation.shards)
        var assigned: [LeaseID: String] = [:]
        for lease in Self.leases {
            if case .shard(let shard) = lease { assigned[lease] = shares.owner(ofShard: shard) }
        }
        assigned[.intake] = shares.intakeOwner
        return assigned
    }

    // MARK: Redis

    func execute(_ call: SimulatedHost.Call, of host: SimulatedHost) throws -> SimulatedHost.Reply {
        let before = redis.owners
        let reply: SimulatedHost.Reply
        switch call {
        case .acquire(let call): reply = .acquired(redis.acquire(call, at: redisTime))
        case .renew(let call): reply = .renewed(redis.renew(call, at: redisTime))
        case .release(let call):
            for lease in redis.release(call) {
                guard case .shard(let shard) = lease else { continue }
                free[shard] = now
                guard let reason = host.busyReason(shard) else { continue }
                throw BrokenInvariant(description: "\(host.name) gives \(shard) back though \(reason)")
            }
            reply = .released
        case .reclaim(let shards):
            var fenced: [Int] = []
            for (shard, token) in shards {
                guard redis.token(of: .shard(shard)) == token else {
                    fenced.append(shard)
                    continue
                }
                reclaimed[shard, default: []].insert(token)
            }
            reply = .reclaimed(fenced: fenced)
        case .heartbeat(let line, let predecessor, let lifetime):
            reply = .members(
                redis.heartbeat(line, predecessor: predecessor, lifetime: lifetime, at: redisTime))
        }
        for lease in Self.leases where before[lease] != redis.owners[lease] {
            try moved(lease, before[lease])
        }
        return reply
    }

    private func moved(_ lease: LeaseID, _ before: ModelLeases.Owner?) throws {
        guard let owner = redis.owners[lease], !owner.nonce.isEmpty else { return }
        moves.append((lease, before?.host ?? "", owner.host))
        for host in hosts { try check(host, lease) }
    }

    /// Checks that a host that considers a lease its own really owns the lease according to Redis.
    func check(_ host: SimulatedHost, _ lease: LeaseID) throws {
        guard let assumedOwner = host.assumedOwner(in: lease), assumedOwner.left > 0 else { return }
        guard let owner = redis.owners[lease], owner.host == host.name,
            owner.nonce.hasPrefix(assumedOwner.nonce + ".")
        else {
            // If the Redis clock has jumped ahead, a lease ends in Redis before it ends on its host; the jump's size is the
            // difference. This is no fault.
            let ahead = jumps.filter { $0.at > now - 12_000 }.reduce(0) { $0 + $1.by }
            guard assumedOwner.left > ahead else { return }
            throw BrokenInvariant(
                description:
                    "\(assumedOwner.who) takes \(lease) for its own for \(assumedOwner.left) ms more; "
                    + "it is \(redis.owners[lease] as Any)")
        }
    }

    /// Records that a worker has received the shard. This ends the shard's time without a worker.
    func isServed(_ shard: Int) {
        if let since = free.removeValue(forKey: shard) { longestGap = max(longestGap, now - since) }
    }

    /// Sends a command to all coordinators.
    func announce(_ command: FarmMessage) {
        for host in hosts where !faultOccurs(.losses, oneIn: 10) {
            after(int(1...30)) { host.receive(command) }
        }
    }

    // MARK: Trouble

    private func trouble() throws {
        guard !isQuiet else { return }
        after(int(200...3000)) { [unowned self] in try trouble() }
        guard let host = hosts.randomElement(using: &random) else { return }
        switch int(0...9) {
        case 0...2 where troubles.contains(.losses): host.cutOff(for: int(500...15_000))
        case 3...6 where troubles.contains(.deaths): host.injectFault()
        case 7...8 where troubles.contains(.changes): host.change()
        case 9 where troubles.contains(.jumps):
            let jump = int(-12_000...12_000)
            if jump > 0 { jumps.append((now, jump)) }
            redisAhead += jump
            for host in hosts {
                for lease in Self.leases { try check(host, lease) }
            }
        default: break
        }
    }

    // MARK: The queue

    private func push(_ event: Event) {
        events.append(event)
        var child = events.count - 1
        while child > 0, Self.isBefore(events[child], events[(child - 1) / 2]) {
            events.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private func pop() {
        events.swapAt(0, events.count - 1)
        events.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < events.count && Self.isBefore(events[child], events[least]) {
                least = child
            }
            guard least != parent else { return }
            events.swapAt(parent, least)
            parent = least
        }
    }

    private static func isBefore(_ one: Event, _ other: Event) -> Bool { one.key < other.key }
}
