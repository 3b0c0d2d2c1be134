import PushModel
import RandomTesting
import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Coordinators, workers and a gateway on one real Redis, one step at a time, everything decided by one sequence of
/// random numbers: requests get lost, are done twice or late, lose their replies; workers and hosts die, stop and
/// come back; Redis goes back in time, its clock jumps.
///
/// After every script a ``Judge`` looks at the books. A token's final fate is fixed, so that at the end each count is known.
final class Simulation {
    static let shards = 4
    /// Whoever parses it crashes.
    static let deadlyJob = Array("deadly".utf8)
    private static let mostJobs = 16
    let redis: PrivateRedis
    let keys = Keys(app: "demo")
    let profile: SimulationProfile
    var random: SplitMix
    var clock = SimulatedClock()
    private(set) var turn = 0
    let gateway = SimulatedGateway()
    var hosts: [SimulatedHost] = []
    /// Workers whose coordinator is gone.
    var orphans: [SimulatedWorker] = []
    var jobs: [SimulatedJob] = []
    /// States of Redis to go back to, oldest first.
    var checkpoints: [Checkpoint] = []
    var ownCrashes = 0
    /// No more faults: what is left must come to its end.
    var isQuiet = false
    /// Jobs that crash their readers do so no more.
    var isCured = false
    var isPaused = false
    /// What Redis did, by kind of request.
    private(set) var calls: [String: Int] = [:]
    /// The last things that happened; nil when nobody wants to know.
    private(set) var trace: [String]?
    private var late: [(turn: Int, action: () throws -> Void)] = []
    private var names = 0
    private let judge: [UInt8]

    /// A copy of Redis.
    struct Checkpoint {
        let database: Int
        let turn: Int
        let jobs: Int
        let at: Int64
    }

    init(_ redis: PrivateRedis, seed: UInt64, profile: SimulationProfile, traced: Bool = false) throws {
        self.redis = redis
        self.profile = profile
        trace = traced ? [] : nil
        random = SplitMix(seed: seed)
        judge = try Judge.load(into: redis)
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
    }

    // MARK: Requests

    /// Makes a request over a bad line. Nil: no reply came, and nobody knows whether it was done.
    func attempt<Step: Request>(_ request: Step) throws -> Step.Reply? {
        if isQuiet { return try perform(request) }
        var dice = below(1000)
        func falls(_ share: Int) -> Bool {
            dice -= share
            return dice < 0
        }
        if falls(profile.lost) {
            note("lost: \(traced(request))")
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
            postpone(request)
            return nil
        }
        return try perform(request)
    }

    /// Redis reads later what a connection that is gone had still in its buffers.
    func postpone<Step: Request>(_ request: Step) {
        note("later: \(traced(request))")
        let action = { [unowned self] in _ = try perform(request, orStoreError: true) }
        late.append((turn + 1 + below(30), action))
    }

    /// With Redis go all connections.
    func forgetLateRequests() { late = [] }

    private func perform<Step: Request>(_ request: Step, orStoreError: Bool) throws -> Step.Reply? {
        do { return try perform(request) } catch is StoreError { return nil }
    }

    /// Makes a request by the simulated clock, and has the books judged after it.
    @discardableResult
    func perform<Step: Request>(_ request: Step) throws -> Step.Reply {
        calls["\(Step.self)", default: 0] += 1
        var answers = try run(request)
        if answers[1].error?.code == "NOSCRIPT" {
            redis.forgetScripts()
            answers = try run(request)
        }
        let answer = answers[1]
        note("\(traced(request)): \(traced(answer))")
        if answers.count > 2 { try Judge.check(answers[2]) }
        do { return try Step.result(answer) } catch {
            if case StoreError.redis(let error) = error {
                throw SimulationFault.count("\(Step.self): \(error)")
            }
            throw error
        }
    }

    private func run<Step: Request>(_ request: Step) throws -> [RESPValue] {
        // No two scripts run in the same microsecond.
        clock.advance(100)
        let time = RESPCommand("SET", ScriptVariant.clockKey, "\(clock.redis)")
        var commands = [time, try redis.command(request, keys)]
        if let script = Step.script, !script.isReadOnly { commands.append(Judge.command(judge, keys)) }
        return try redis.run(together: commands)
    }

    // MARK: Turns

    func step() throws {
        turn += 1
        clock.advance(Int64(1 + below(isQuiet ? 1_500_000 : 200_000)))
        while let index = late.firstIndex(where: { $0.turn <= turn }) { try late.remove(at: index).action() }
        if try !isQuiet && somethingHappens() { return }
        let dice = below(100)
        if dice < 6, !isQuiet { return try submit() }
        if dice < 15, let orphan = pick(orphans) {
            try orphan.step()
            orphans.removeAll { $0.isGone || $0.isCrashed }
        } else if let host = pick(hosts) {
            try host.step()
        }
    }

    private func submit() throws {
        switch below(100) {
        case 0..<3:
            try perform(PushJob(job: Array("{broken".utf8)))
        case 3..<5:
            try perform(PushJob(job: [UInt8](repeating: 120, count: SimulatedHost.jobBytes + 1)))
        case 5..<8: if profile.poisonJobs > 0 { try perform(PushJob(job: Self.deadlyJob)) }
        case 8..<16:
            // A producer that did not get its answer.
            if let job = pick(jobs.filter { $0.id != nil && !$0.mayBeLost }) {
                try perform(PushJob(job: job.raw))
            }
        default:
            guard jobs.count < Self.mostJobs else { return }
            let job = SimulatedJob(number: jobs.count, simulation: self)
            jobs.append(job)
            try perform(PushJob(job: job.raw))
        }
    }
}
