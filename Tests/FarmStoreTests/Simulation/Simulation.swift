import PushModel
import RESP
import RandomTesting
import Testing

@testable import FarmStore

/// Coordinators, workers and a gateway on one real Redis, one step at a time, everything decided by one sequence of
/// random numbers: requests get lost, are done twice or late, lose their replies; workers and hosts die, stop and
/// come back; Redis goes back in time, its clock jumps.
///
/// After every script the books are audited. A token's final fate is fixed, so that at the end each count is known.
final class Simulation {
    static let shards = 4
    /// Whoever parses it crashes.
    static let deadlyJob = Array("deadly".utf8)
    let redis: PrivateRedis
    let keys = Keys(app: "demo")
    let profile: SimulationProfile
    var random: SplitMix
    var clock = SimulatedClock()
    var turn = 0
    let gateway = SimulatedGateway()
    var hosts: [SimulatedHost] = []
    /// Workers whose coordinator is gone.
    var orphans: [SimulatedWorker] = []
    var jobs: [SimulatedJob] = []
    /// States of Redis to go back to, by the number of its database.
    var checkpoints: [Int: Checkpoint] = [:]
    var ownCrashes = 0
    /// No more faults: what is left must come to its end.
    var isQuiet = false
    /// Jobs that crash their readers do so no more.
    var isCured = false
    /// Whether Redis ever went back.
    var wentBack = false
    /// Requests made while things went wrong, by kind.
    private(set) var calls: [String: Int] = [:]
    /// The last things that happened; nil when nobody wants to know.
    private(set) var trace: [String]?
    private var late: [(turn: Int, action: () throws -> Void)] = []
    private var names = 0

    /// What was true when a copy of Redis was made.
    struct Checkpoint {
        var turn: Int
        var jobs: Int
    }

    init(_ redis: PrivateRedis, seed: UInt64, profile: SimulationProfile, traced: Bool = false) throws {
        self.redis = redis
        self.profile = profile
        trace = traced ? [] : nil
        random = SplitMix(seed: seed)
        try redis.run("FLUSHALL")
        _ = try perform(CreateResultsGroup())
        hosts = ["A", "B"].map { SimulatedHost(name: $0, simulation: self) }
    }

    func chance(_ percent: Int) -> Bool { below(100) < percent }
    func below(_ bound: Int) -> Int { bound <= 0 ? 0 : Int(random.next() % UInt64(bound)) }
    func pick<Element>(_ elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[below(elements.count)]
    }

    func name(_ prefix: String) -> String {
        names += 1
        return "\(prefix)\(names)"
    }

    func note(_ what: @autoclosure () -> String) {
        guard trace != nil else { return }
        let line = "\(turn) \(what())"
        trace?.append(line)
        if trace!.count > 4000 { trace?.removeFirst(2000) }
    }

    // MARK: Requests

    /// Makes a request over a bad line. Nil: no reply came, and nobody knows whether it was done.
    func attempt<Step: Request>(_ request: Step) throws -> Step.Reply? {
        if isQuiet {
            // Replies of checkouts go on being lost: only adoption brings such a batch back to a living worker.
            let reply = try perform(request)
            return Step.self == Checkout.self && chance(10) ? nil : reply
        }
        calls["\(Step.self)", default: 0] += 1
        var dice = below(1000)
        func falls(_ share: Int) -> Bool {
            dice -= share
            return dice < 0
        }
        if falls(profile.lost) {
            note("lost: \(told(request))")
            return nil
        }
        if falls(profile.twice) {
            // As by a client that repeats it; what the first answer was is lost.
            note("twice:")
            _ = try perform(request, orStoreError: true)
            return try perform(request)
        }
        if falls(profile.replyLost) {
            note("without reply:")
            _ = try perform(request, orStoreError: true)
            return nil
        }
        if falls(profile.late) {
            // Redis reads what a connection still had in its buffers.
            note("later: \(told(request))")
            late.append((turn + 1 + below(30), { _ = try self.perform(request, orStoreError: true) }))
            return nil
        }
        return try perform(request)
    }

    private func perform<Step: Request>(_ request: Step, orStoreError: Bool) throws -> Step.Reply? {
        do { return try perform(request) } catch is StoreError { return nil }
    }

    /// Makes a request by the simulated clock, and audits the books after it.
    @discardableResult
    func perform<Step: Request>(_ request: Step) throws -> Step.Reply {
        var answers = try run(request)
        if answers[1].error?.code == "NOSCRIPT" || answers.last?.error?.code == "NOSCRIPT" {
            redis.forgetScripts()
            if answers[1].error?.code == "NOSCRIPT" { answers = try run(request) }
        }
        if answers.count > 2, answers[2].error?.code != "NOSCRIPT" {
            let faults = try Step.audit(answers[2])
            guard faults.isEmpty else {
                note("\(told(request)): \(answers[1])")
                throw SimulationFault.books(faults)
            }
        }
        do {
            let reply = try Step.result(answers[1])
            note("\(told(request)): \(told(answers[1]))")
            return reply
        } catch {
            note("\(told(request)): \(error)")
            if case StoreError.redis(let error) = error {
                throw SimulationFault.count("\(Step.self): \(error)")
            }
            throw error
        }
    }

    private func run<Step: Request>(_ request: Step) throws -> [RESPValue] {
        let time = RESPCommand("SET", ScriptVariant.clockKey, "\(clock.redis)")
        var commands = [time, try redis.command(request, keys)]
        // Nothing goes wrong in the end: now and then is enough.
        if Step.script != nil, !isQuiet || turn % 16 == 0 {
            commands.append(try redis.command(Audit(shards: Self.shards), keys))
        }
        return try redis.run(together: commands)
    }

    // MARK: Turns

    func step() throws {
        turn += 1
        clock.advance(Int64(1 + below(isQuiet ? 3_000_000 : 200_000)))
        while let index = late.firstIndex(where: { $0.turn <= turn }) { try late.remove(at: index).action() }
        if try !isQuiet && somethingHappens() { return }
        let dice = below(100)
        if dice < 5, !isQuiet { return try submit() }
        if dice < 15, let orphan = pick(orphans) {
            try orphan.step()
            orphans.removeAll { $0.isGone }
        } else if let host = pick(hosts) {
            try host.step()
        }
    }

    private func submit() throws {
        switch below(100) {
        case 0..<3:
            try perform(Submit(job: Array("{broken".utf8)))
        case 3..<5:
            try perform(Submit(job: [UInt8](repeating: 120, count: SimulatedHost.jobBytes + 1)))
        case 5..<7: try perform(Submit(job: Self.deadlyJob))
        case 7..<12:
            // A producer that did not get its answer.
            if let job = pick(jobs.filter { $0.id != nil }) { try perform(Submit(job: job.raw)) }
        default:
            guard jobs.count < 40 else { return }
            let job = SimulatedJob(number: jobs.count, simulation: self)
            jobs.append(job)
            try perform(Submit(job: job.raw))
        }
    }
}

extension Request {
    fileprivate static func audit(_ value: RESPValue) throws -> [String] { try Audit.result(value) }
}
