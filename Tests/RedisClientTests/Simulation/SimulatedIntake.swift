import PushModel

@testable import RedisClient
@testable import StoreProtocol

/// The intake of a coordinator. The intake takes jobs, and splits or refuses them in steps.
final class SimulatedIntake {
    /// A taken job and what the intake knows about it.
    private struct Taken {
        let raw: [UInt8]
        /// The number of the job; nil if the intake must refuse the job.
        var job: Int?
        var id: String
        /// The number of accepted pushes that are already in batches; nil if the job record does not exist yet.
        var split: Int?
    }

    private enum Plan {
        case split(Split, dropped: Int, split: Int?)
        case refuse(Refuse)
    }

    private unowned let simulation: Simulation
    private var served: FenceToken?
    private var step = 0
    private var taken: [Taken] = []
    /// The last step, if it got no reply. The intake repeats this step.
    private var plan: Plan?

    /// The name of the process that parses jobs, and the last such process that a job has crashed.
    private var process = ""
    private var ended: (name: String, isOnlyApp: Bool)?

    private static let tokensAtOnce = 48

    init(_ simulation: Simulation) { self.simulation = simulation }

    func step(_ token: FenceToken) throws {
        if token != served { begin(token) }
        do {
            if let ended {
                let request = RecordIntakeCrash(token: token, process: ended.name, isOnlyApp: ended.isOnlyApp)
                guard try simulation.attempt(request) != nil else { return }
                self.ended = nil
                return begin(token)
            }
            if plan == nil, taken.isEmpty, simulation.chance(40) { return try wait(token) }
            if plan == nil, taken.isEmpty || simulation.chance(30) { return try take(token) }
            try carryOut(plan ?? makePlan(token))
        } catch StoreError.fenced(let lease) {
            served = nil
            throw StoreError.fenced(lease: lease)
        } catch StoreError.outOfStep, StoreError.takenJobsDiffer {
            served = nil
        } catch StoreError.exists(let id) {
            if case .split(let request, _, _) = plan, !request.movedJob.isEmpty {
                served = nil
                return
            }
            plan = nil
            guard let index = taken.firstIndex(where: { $0.id == id && $0.split == nil && $0.job != nil })
            else {
                served = nil
                return
            }
            taken[index].job = nil
        }
    }

    private func begin(_ token: FenceToken) {
        (served, step, taken, plan) = (token, 0, [], nil)
        process = simulation.name("parser")
    }

    private func take(_ token: FenceToken) throws {
        let request = Take(
            token: token, known: taken.count, maxJobs: 1 + simulation.below(3), maxBytes: 1000,
            maxJobBytes: SimulatedHost.jobBytes)
        guard let reply = try simulation.attempt(request) else { return }
        var head: IntakeHead?
        if taken.isEmpty {
            (step, head) = (reply.step, reply.head)
        } else if reply.step != step {
            throw StoreError.outOfStep(reply.step)
        }
        if reply.jobs.contains(Simulation.deadlyJob) {
            simulation.note("\(process) ends")
            ended = (process, simulation.chance(80))
            return
        }
        hold(reply.jobs, head: head)
    }

    /// - Returns: whether all jobs are readable.
    @discardableResult
    private func hold(_ jobs: [[UInt8]], head: IntakeHead?) -> Bool {
        var head = head
        for raw in jobs {
            let number = Int(String(decoding: raw, as: UTF8.self))
            let name = number.map { simulation.jobs[$0].id ?? simulation.name("anon-\($0)-") } ?? ""
            taken.append(Taken(raw: raw, job: number, id: head?.job ?? name, split: head?.offset))
            head = nil
        }
        return taken.allSatisfy { $0.job != nil }
    }

    /// Waits for the next job with a command that is not fenced, so it moves a job to `taken` even if another process owns the
    /// intake. Splits the job if it is the only taken job.
    private func wait(_ token: FenceToken) throws {
        guard let raw = try simulation.attempt(NextJob(timeout: .zero)) ?? nil else {
            served = nil
            return
        }
        if raw == Simulation.deadlyJob {
            simulation.note("\(process) ends")
            ended = (process, simulation.chance(80))
            return
        }
        guard hold([raw], head: nil), case .split(var request, let dropped, let split) = try makePlan(token),
            dropped == 1
        else {
            served = nil
            return
        }
        request.movedJob = raw
        try carryOut(.split(request, dropped: dropped, split: split))
    }

    private func makePlan(_ token: FenceToken) throws -> Plan {
        guard taken[0].job != nil else {
            return .refuse(
                Refuse(
                    token: token, step: step + 1, job: taken[0].id.isEmpty ? nil : taken[0].id, field: "id",
                    position: 0, reason: "x", original: taken[0].raw))
        }
        var request = Split(token: token, step: step + 1, dropped: 0, jobs: [], batches: [])
        var packer = SimulatedPacker()
        var room = 1 + simulation.below(Self.tokensAtOnce)
        var head: Int?
        for (index, one) in taken.prefix(1 + simulation.below(3)).enumerated() {
            guard let number = one.job, room > 0, !request.jobs.contains(where: { $0.id == one.id }) else {
                break
            }
            let job = simulation.jobs[number]
            let first = one.split ?? 0
            guard first < job.tokens.count else {
                throw SimulationFault.count("\(one.id) goes on behind its end")
            }
            let last = min(job.tokens.count, first + room)
            room -= last - first
            packer.add(job, id: one.id, first..<last)
            request.jobs.append(
                Split.Job(
                    id: one.id, opens: one.split == nil, submitted: job.tokens.count,
                    accepted: job.tokens.count, lane: job.lane))
            if last == job.tokens.count {
                request.dropped = index + 1
            } else {
                head = last
                request.head = IntakeHead(job: one.id, offset: last)
            }
        }
        request.batches = packer.batches
        return .split(request, dropped: request.dropped, split: head)
    }

    private func carryOut(_ plan: Plan) throws {
        self.plan = plan
        switch plan {
        case .refuse(let request):
            guard try simulation.attempt(request) != nil else { return }
            taken.removeFirst()
        case .split(let request, let dropped, let split):
            guard try simulation.attempt(request) != nil else { return }
            taken.removeFirst(dropped)
            if let split { taken[0].split = split }
        }
        self.plan = nil
        step += 1
    }
}

/// Packs the tokens of jobs into batches of several job parts.
struct SimulatedPacker {
    private struct Kind: Hashable, Comparable {
        let due: Int64
        let lane: Lane
        let shard: Int

        static func < (a: Kind, b: Kind) -> Bool {
            (a.due, a.lane.rawValue, a.shard) < (b.due, b.lane.rawValue, b.shard)
        }
    }

    private var open: [Kind: (builder: BatchBuilder, tokens: Int)] = [:]

    mutating func add(_ job: SimulatedJob, id: String, _ range: Range<Int>) {
        let groups = Dictionary(grouping: job.tokens[range]) {
            ShardHash.shard(of: $0, shards: Simulation.shards)
        }
        for (shard, tokens) in groups {
            let kind = Kind(due: job.due, lane: job.lane, shard: shard)
            var (builder, count) = open[kind] ?? (BatchBuilder(), 0)
            let head = JobPartHead(jobID: id, options: PushOptions(delivery: job.delivery))
            Array("{}".utf8).withUnsafeBytes { builder.begin(head, payload: $0) }
            for token in tokens { token.withUnsafeBytes { builder.append(token: $0) } }
            count += tokens.count
            open[kind] = (builder, count)
        }
    }

    var batches: [Split.NewBatch] {
        open.sorted { $0.key < $1.key }.map { kind, batch in
            var builder = batch.builder
            return Split.NewBatch(
                shard: kind.shard, lane: kind.lane, due: kind.due, tokens: batch.tokens,
                body: builder.finish()!)
        }
    }
}
