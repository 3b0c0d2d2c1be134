import PushModel
import RandomTesting
import Testing

@testable import FarmStore

/// Coordinators, workers and a gateway on one real Redis, one step at a time, everything decided by one sequence of
/// random numbers: requests get lost, are done twice, lose their replies; workers and hosts die or go on as zombies.
///
/// After every step the books are audited. A token's final fate is fixed, so that at the end each count is known.
final class Simulation {
    static let shards = 4
    let redis: PrivateRedis
    let keys = Keys(app: "demo")
    var random: SplitMix
    let gateway = SimulatedGateway()
    var hosts: [SimulatedHost] = []
    var zombies: [SimulatedWorker] = []
    var jobs: [SimulatedJob] = []
    /// No more faults: what is left must come to its end.
    var isQuiet = false
    /// Requests made while things went wrong, by kind.
    private(set) var callsUnderFaults: [String: Int] = [:]
    private var names = 0

    init(seed: UInt64, mutant: Mutant? = nil) throws {
        redis = try PrivateRedis()
        redis.mutant = mutant
        random = SplitMix(seed: seed)
        _ = try redis.perform(CreateResultsGroup(), keys)
        hosts = [SimulatedHost(name: "A", simulation: self), SimulatedHost(name: "B", simulation: self)]
    }

    func chance(_ percent: UInt64) -> Bool { random.next() % 100 < percent }
    func below(_ bound: Int) -> Int { bound <= 0 ? 0 : Int(random.next() % UInt64(bound)) }

    func name(_ prefix: String) -> String {
        names += 1
        return "\(prefix)\(names)"
    }

    /// Makes a request over a bad line. Nil: no reply came, and nobody knows whether it was done.
    func attempt<Step: Request>(_ request: Step) throws -> Step.Reply? {
        if isQuiet {
            // Replies of checkouts go on being lost: only adoption brings such a batch back to a living worker.
            let reply = try redis.perform(request, keys)
            return Step.self == Checkout.self && chance(10) ? nil : reply
        }
        callsUnderFaults["\(Step.self)", default: 0] += 1
        switch below(100) {
        case 0, 1: return nil
        case 2, 3, 4:
            // Done twice, as by a client that repeats it; what the first answer was is lost.
            _ = try? redis.perform(request, keys)
            return try redis.perform(request, keys)
        case 5, 6, 7:
            _ = try? redis.perform(request, keys)
            return nil
        default: return try redis.perform(request, keys)
        }
    }

    func step() throws {
        switch below(1000) {
        case 0..<40: try submit()
        case 40..<44: try expireLease()
        case 44..<54: try kill()
        case 54..<80:
            if !zombies.isEmpty { try zombies[below(zombies.count)].step() }
        default: try hosts[below(hosts.count)].step()
        }
        try audit()
    }

    func audit() throws {
        let faults = try redis.perform(Audit(shards: Self.shards), keys)
        if !faults.isEmpty { throw SimulationFault.books(faults) }
    }

    private func submit() throws {
        guard jobs.count < 40 else { return }
        let isAgain = chance(5) && !jobs.isEmpty
        let job = isAgain ? jobs[below(jobs.count)] : SimulatedJob(number: jobs.count, simulation: self)
        if !isAgain { jobs.append(job) }
        _ = try redis.perform(Submit(job: chance(3) ? Array("{broken".utf8) : job.raw), keys)
        if try redis.run("LINDEX", "pushfarm:demo", "-1").text == "{broken", !isAgain { jobs.removeLast() }
    }

    /// As if a host had slept through its lease.
    private func expireLease() throws {
        let host = hosts[below(hosts.count)]
        try redis.run("HSET", "{pushfarm:demo}:owners", "until:\(host.nonce)", "1")
    }

    private func kill() throws {
        let host = hosts[below(hosts.count)]
        if chance(60), !host.workers.isEmpty {
            let worker = host.workers.remove(at: below(host.workers.count))
            // A zombie goes on until it notices; the host knows only what it reaped.
            if chance(30) { zombies.append(worker) } else { host.dead.append(worker.name) }
        } else {
            if chance(50) { zombies += host.workers }
            try host.restart()
        }
        if zombies.count > 4 { zombies.removeFirst() }
    }

    /// Lets everything come to its end, and checks every number.
    func finish() throws {
        isQuiet = true
        zombies = []
        // One host is left; it takes over what all others had.
        let last = hosts[0]
        hosts = [last]
        for field in try redis.run("HKEYS", "{pushfarm:demo}:owners").array?.compactMap(\.text) ?? []
        where field.hasPrefix("until:") && field != "until:\(last.nonce)" {
            try redis.run("HSET", "{pushfarm:demo}:owners", field, "1")
        }
        for round in 0..<20_000 {
            try last.step()
            if round % 50 == 0 {
                try audit()
                if try isDone() { break }
            }
        }
        let depths = try redis.perform(ReadDepths(shards: Self.shards), keys)
        guard try isDone() else { throw SimulationFault.stuck(depths) }
        try audit()
        try checkAccounts()
    }

    private func isDone() throws -> Bool {
        let depths = try redis.perform(ReadDepths(shards: Self.shards), keys)
        guard depths.inbox + depths.taken + depths.delayed + depths.results + depths.parked == 0 else {
            return false
        }
        return depths.shards.allSatisfy { $0 == .init(high: 0, bulk: 0, flight: 0) }
    }

    private func checkAccounts() throws {
        var suspected = 0
        for job in jobs {
            let fields = try redis.perform(ReadAccount(job: job.id), keys)
            guard let account = Account(id: job.id, app: "demo", fields: fields) else {
                throw SimulationFault.count("no account of \(job.id)")
            }
            suspected += account.maybeDuplicated
            try check(account.state == .finished && account.queued == 0, "is not finished", account)
            try check(account.inFlight == 0 && account.waiting == 0, "has something open", account)
            let fates = job.tokens.map(SimulatedGateway.fate)
            let ended = account.delivered + account.failed + account.expired
            try check(ended == job.tokens.count, "does not add up to \(job.tokens.count)", account)
            if job.delivery == .atLeastOnce {
                try check(account.reasons["unknown"] == nil, "has unknown outcomes", account)
                try check(account.delivered == fates.count { $0 == .delivered }, "delivered", account)
                try check(account.failed == fates.count { $0 == .failed }, "failed", account)
                try check(account.expired == fates.count { $0 == .expired }, "expired", account)
            } else {
                try check(account.maybeDuplicated == 0, "was sent again", account)
                let most = job.tokens.map { gateway.accepted[$0, default: 0] }.max() ?? 0
                try check(most <= 1, "was sent more than once", account)
            }
            let sent = job.tokens.count { gateway.accepted[$0, default: 0] > 0 }
            try check(account.delivered <= sent, "claims more than \(sent) were sent", account)
        }
        let duplicates = gateway.accepted.values.reduce(0) { $0 + max(0, $1 - 1) }
        guard duplicates <= suspected else {
            throw SimulationFault.count("\(duplicates) duplicates, \(suspected) counted")
        }
    }

    private func check(_ holds: Bool, _ what: String, _ account: Account) throws {
        guard holds else { throw SimulationFault.count("\(account.id) \(what): \(account)") }
    }
}

enum SimulationFault: Error {
    /// What the audit says.
    case books([String])
    case count(String)
    /// It never came to its end.
    case stuck(ReadDepths.Reply)
}

struct SimulatedJob {
    let id: String
    let tokens: [[UInt8]]
    let delivery: Delivery
    let lane: Lane
    let raw: [UInt8]

    init(number: Int, simulation: Simulation) {
        let count = simulation.chance(15) ? 40 + simulation.below(60) : 1 + simulation.below(20)
        id = "job-\(number)"
        delivery = simulation.chance(20) ? .atMostOnce : .atLeastOnce
        lane = simulation.chance(30) ? .bulk : .high
        tokens = (0..<count).map { index in
            [UInt8(number), UInt8(index), 9, 9] + [UInt8](repeating: UInt8(index), count: 12)
        }
        raw = Array("\(number)".utf8)
    }
}

/// The only judge of what was sent.
final class SimulatedGateway {
    enum Answer: Equatable { case delivered, failed, expired, throttled, unknown }

    /// How often each token got a 200.
    var accepted: [[UInt8]: Int] = [:]

    /// How a token ends, whoever sends it.
    static func fate(_ token: [UInt8]) -> Answer {
        switch XXH64.hash(token, seed: 77) % 100 {
        case 0..<80: .delivered
        case 80..<92: .failed
        default: .expired
        }
    }

    func send(_ token: [UInt8], attempt: UInt8, isBroken: Bool) -> Answer {
        let patience = XXH64.hash(token, seed: 78) % 10
        if (patience == 0 && attempt < 1) || (patience == 1 && attempt < 2) { return .throttled }
        let fate = Self.fate(token)
        if fate == .delivered { accepted[token, default: 0] += 1 }
        return isBroken ? .unknown : fate
    }
}
