import PushModel
import RandomTesting
import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Runs coordinators, workers and a gateway on one real Redis, one step at a time. One sequence of random numbers decides every
/// event. Requests are lost, executed twice or executed late, or their replies are lost. Workers and hosts die, stop and return.
/// Redis returns to earlier states, and its clock jumps.
///
/// After every script a ``Judge`` checks the accounting. The final outcome of each token is fixed, so each final count is known.
final class Simulation {
    static let shards = 4
    /// A job that crashes the process that parses it.
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
    /// Workers whose coordinator has exited.
    var orphans: [SimulatedWorker] = []
    var jobs: [SimulatedJob] = []
    /// Earlier states of Redis for a restore, oldest first.
    var checkpoints: [Checkpoint] = []
    var ownCrashes = 0
    /// Whether no more faults happen. The remaining work must then finish.
    var isQuiet = false
    /// Whether the cause of crashes is fixed, so that no job crashes its readers.
    var isCured = false
    var isPaused = false
    /// Whether a process ended while Redis may execute its step of a campaign with a cap later. The step may store old counts.
    var mayHaveOldCounts = false
    /// The calls that Redis executed, by kind of request.
    private(set) var calls: [String: Int] = [:]
    /// The events of the run, in words; nil if the caller requested no trace.
    private(set) var trace: [String]?
    private var late: [(turn: Int, action: () throws -> Void)] = []
    private var names = 0
    private let judge: [UInt8]

    /// A copy of the data of Redis.
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

    /// Sends a request over an unreliable connection.
    /// Returns nil if no reply arrived, so that the caller does not know whether Redis executed the request.
    ///
    /// - Parameter keys: the keys of a partition of the registry; nil for the keys of the app.
    func attempt<Step: Request>(_ request: Step, in keys: Keys? = nil) throws -> Step.Reply? {
        if isQuiet { return try perform(request, in: keys) }
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
            // Repeats the request like a client whose first reply was lost.
            note("twice:")
            _ = try perform(request, in: keys, orStoreError: true)
            return try perform(request, in: keys)
        }
        if falls(profile.replyLost) {
            note("without reply:")
            _ = try perform(request, in: keys, orStoreError: true)
            return nil
        }
        if falls(profile.late) {
            postpone(request, in: keys)
            return nil
        }
        return try perform(request, in: keys)
    }

    /// Makes Redis execute a request in a later turn, as when Redis reads it late from the buffers of a lost connection.
    func postpone<Step: Request>(_ request: Step, in keys: Keys? = nil) {
        note("later: \(traced(request))")
        let action = { [unowned self] in _ = try perform(request, in: keys, orStoreError: true) }
        late.append((turn + 1 + below(30), action))
    }

    /// Drops the late requests, because all connections end together with Redis.
    func forgetLateRequests() { late = [] }

    private func perform<Step: Request>(
        _ request: Step, in keys: Keys?, orStoreError: Bool
    ) throws -> Step.Reply? {
        do { return try perform(request, in: keys) } catch is StoreError { return nil }
    }

    /// Sends a request at the simulated time. Then the judge checks the accounting.
    @discardableResult
    func perform<Step: Request>(_ request: Step, in keys: Keys? = nil) throws -> Step.Reply {
        calls["\(Step.self)", default: 0] += 1
        var replies = try run(request, keys ?? self.keys)
        if replies[1].error?.code == "NOSCRIPT" {
            redis.forgetScripts()
            replies = try run(request, keys ?? self.keys)
        }
        let reply = replies[1]
        note("\(traced(request)): \(traced(reply))")
        if replies.count > 2 { try Judge.check(replies[2]) }
        do { return try Step.result(reply) } catch {
            if case StoreError.redis(let error) = error {
                throw SimulationFault.count("\(Step.self): \(error)")
            }
            throw error
        }
    }

    private var capCheck: Judge.CapCheck {
        if mayHaveOldCounts { return .none }
        return profile.rollBacks > 0 ? .atLeast : .exact
    }

    private func run<Step: Request>(_ request: Step, _ keys: Keys) throws -> [RESPValue] {
        // Two scripts never run in the same microsecond.
        clock.advance(100)
        let time = RESPCommand("SET", ScriptVariant.clockKey, "\(clock.redis)")
        var commands = [time, try redis.command(request, keys)]
        if let script = Step.script, !script.isReadOnly {
            commands.append(Judge.command(judge, self.keys, caps: capCheck))
        }
        return try redis.run(together: commands)
    }

    // MARK: Turns

    func step() throws {
        turn += 1
        clock.advance(Int64(1 + below(isQuiet ? 1_500_000 : 200_000)))
        while let index = late.firstIndex(where: { $0.turn <= turn }) { try late.remove(at: index).action() }
        if try !isQuiet && injectFault() { return }
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
        if profile.campaigns > 0, chance(25) { return try reportDone() }
        switch below(100) {
        case 0..<3:
            try perform(PushJob(job: Array("{broken".utf8)))
        case 3..<5:
            try perform(PushJob(job: [UInt8](repeating: 120, count: SimulatedHost.jobBytes + 1)))
        case 5..<8: if profile.poisonJobs > 0 { try perform(PushJob(job: Self.deadlyJob)) }
        case 8..<16:
            // A producer that got no reply pushes its job again.
            if let job = pick(jobs.filter { $0.id != nil && !$0.mayBeLost && $0.devices == nil }) {
                try perform(PushJob(job: job.raw))
            }
        default:
            guard jobs.count < Self.mostJobs else { return }
            if profile.campaigns > 0, chance(profile.campaigns) { return try submitCampaign() }
            let job = SimulatedJob(number: jobs.count, simulation: self)
            jobs.append(job)
            try perform(PushJob(job: job.raw))
        }
    }

    private func submitCampaign() throws {
        let job = SimulatedJob(campaign: jobs.count, simulation: self)
        jobs.append(job)
        guard let id = job.id else { return }
        let fields: [ChangeCampaign.Field] = job.isCapped ? [("category", "caps")] : []
        try perform(ChangeCampaign.create(id, name: name("change"), isDraft: false, fields: fields))
    }

    /// Devices of a campaign report that they are done.
    private func reportDone() throws {
        guard let number = pick(jobs.indices.filter { jobs[$0].devices?.isEmpty == false }) else { return }
        let devices = (0...below(4)).map { _ in below(jobs[number].devices?.count ?? 0) }
        jobs[number].reported.formUnion(devices)
        let words = [number] + devices
        try perform(PushInputs(.done, [Array(words.map(String.init).joined(separator: " ").utf8)]))
    }
}
