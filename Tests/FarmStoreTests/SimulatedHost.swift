import PushModel
import Testing

@testable import FarmStore

/// A coordinator as the scripts see it: leases, intake, gatherer, promoter, two workers.
final class SimulatedHost {
    let name: String
    private(set) var nonce: String
    var workers: [SimulatedWorker] = []
    /// Names of workers that it has reaped.
    var dead: [String] = []
    private unowned let simulation: Simulation
    private var predecessor = ""
    private var tokens: [LeaseField: FenceToken] = [:]
    private var intakeStep = 0
    private var taken: [[UInt8]] = []
    private var head: IntakeHead?
    private var isInStep = false

    init(name: String, simulation: Simulation) {
        (self.name, self.simulation) = (name, simulation)
        nonce = simulation.name(name)
    }

    /// A new process in the place of the old one: it holds the host's lock, so it knows that the old one is gone.
    ///
    /// What the one before that had and was not taken over by now is free when its lease ends: that time has passed.
    func restart() throws {
        if !predecessor.isEmpty {
            try simulation.redis.run("HSET", "{pushfarm:demo}:owners", "until:\(predecessor)", "1")
        }
        predecessor = nonce
        nonce = simulation.name(name)
        (workers, dead, tokens) = ([], [], [:])
        forgetIntake()
    }

    private func forgetIntake() { (taken, head, isInStep) = ([], nil, false) }

    private var shards: [(number: Int, token: FenceToken)] {
        (0..<Simulation.shards).compactMap { shard in tokens[.shard(shard)].map { (shard, $0) } }
    }

    func step() throws {
        do {
            switch simulation.below(20) {
            case 0: try lease()
            case 1: try recover()
            case 2, 3, 4: try intake()
            case 5, 6, 7, 8: try gather()
            case 9: _ = try simulation.attempt(Promote(limit: 1 + simulation.below(5)))
            case 10: hire()
            default:
                if !workers.isEmpty { try workers[simulation.below(workers.count)].step() }
            }
        } catch StoreError.fenced {
            try loseLeases()
        } catch StoreError.outOfStep, StoreError.fewerTaken {
            forgetIntake()
        }
        if workers.contains(where: \.isFenced) { try loseLeases() }
    }

    /// What a coordinator does that was told that it is not the owner: begins anew, its workers end.
    private func loseLeases() throws {
        if simulation.chance(50) { simulation.zombies += workers }
        try restart()
    }

    private func lease() throws {
        let fields: [LeaseField] = [.intake] + (0..<Simulation.shards).map { .shard($0) }
        let request = AcquireLeases(
            nonce: nonce, host: name, lease: .seconds(600), predecessor: predecessor,
            fields: simulation.isQuiet ? fields : fields.filter { _ in simulation.chance(60) })
        guard !request.fields.isEmpty, let reply = try simulation.attempt(request) else { return }
        for (field, answer) in zip(request.fields, reply.answers) {
            if case .ours(let token) = answer {
                if field == .intake, tokens[field] != token { forgetIntake() }
                tokens[field] = token
            } else {
                tokens[field] = nil
            }
        }
        for worker in workers { worker.assign(shards) }
    }

    private func hire() {
        guard workers.count < 2 else { return }
        workers.append(
            SimulatedWorker(name: simulation.name("\(name)-w"), simulation: simulation, shards: shards))
    }

    private func recover() throws {
        guard !shards.isEmpty else { return }
        let alive = workers.map(\.name)
        let request =
            simulation.chance(50)
            ? Reclaim(.gone(dead), loss: randomLoss, shards: shards)
            : Reclaim(.allBut(alive), shards: shards)
        guard let reply = try simulation.attempt(request) else { return }
        if !reply.fenced.isEmpty { throw StoreError.fenced(field: "\(reply.fenced[0])") }
    }

    /// Workers die of themselves and by others' hands; poison is not what this is about.
    private var randomLoss: WorkerLoss {
        switch simulation.below(3) {
        case 0: .innocent
        default: .kill(hadSent: simulation.chance(90), recent: 3 + simulation.below(9))
        }
    }

    private func intake() throws {
        guard let token = tokens[.intake] else { return }
        guard isInStep, !taken.isEmpty else {
            let request = Take(
                token: token, known: isInStep ? taken.count : 0, maxJobs: 1 + simulation.below(3),
                maxBytes: 1000, maxJobBytes: 1000)
            if !isInStep { taken = [] }
            guard let reply = try simulation.attempt(request) else { return forgetIntake() }
            if !isInStep { (intakeStep, head, isInStep) = (reply.step, reply.head, true) }
            taken += reply.jobs
            return
        }
        try splitFirst(token)
    }

    /// Splits the first taken job, or the next chunk of it.
    private func splitFirst(_ token: FenceToken) throws {
        guard let number = Int(String(decoding: taken[0], as: UTF8.self)) else {
            return try refuse(token, job: nil)
        }
        let job = simulation.jobs[number]
        let offset = head.map(\.offset) ?? 0
        guard offset < job.tokens.count || job.tokens.isEmpty else {
            throw SimulationFault.count("\(job.id) goes on behind its end")
        }
        let chunk = job.tokens[offset...].prefix(32)
        let isLast = offset + chunk.count == job.tokens.count
        let next = isLast ? nil : IntakeHead(job: job.id, offset: offset + chunk.count)
        let request = Split(
            token: token, step: intakeStep + 1, dropped: isLast ? 1 : 0, head: next,
            jobs: [
                Split.Job(
                    id: job.id, opens: offset == 0, submitted: job.tokens.count,
                    accepted: job.tokens.count, lane: job.lane)
            ], batches: batches(of: job, chunk))
        do {
            guard try simulation.attempt(request) != nil else { return }
            intakeStep += 1
            head = next
            if isLast { taken.removeFirst() }
        } catch StoreError.exists {
            try refuse(token, job: job.id)
        }
    }

    private func refuse(_ token: FenceToken, job: String?) throws {
        let request = Refuse(
            token: token, step: intakeStep + 1, job: job, field: "id", position: 0, reason: "x", original: [])
        guard try simulation.attempt(request) != nil else { return }
        intakeStep += 1
        taken.removeFirst()
    }

    private func batches(of job: SimulatedJob, _ tokens: ArraySlice<[UInt8]>) -> [Split.NewBatch] {
        let groups = Dictionary(grouping: tokens) { ShardHash.shard(of: $0, shards: Simulation.shards) }
        return groups.sorted { $0.key < $1.key }.map { shard, tokens in
            var builder = BatchBuilder()
            let head = SegmentHead(jobID: job.id, options: PushOptions(delivery: job.delivery))
            Array("{}".utf8).withUnsafeBytes { builder.begin(head, payload: $0) }
            for token in tokens { token.withUnsafeBytes { builder.append(token: $0) } }
            return Split.NewBatch(
                shard: shard, lane: job.lane, due: simulation.chance(10) ? 1 : 0, tokens: tokens.count,
                body: builder.finish()!)
        }
    }

    private func gather() throws {
        let records: [ResultsRecord]?
        let count = simulation.isQuiet ? 64 : 1 + simulation.below(6)
        switch simulation.below(3) {
        case 0: records = try simulation.attempt(ReadResults(gatherer: name, .new, count: count))
        case 1:
            records = try simulation.attempt(
                ReadResults(gatherer: name, .pending(after: nil), count: count))
        default:
            records = try simulation.attempt(
                ClaimResults(gatherer: name, idleFor: .zero, count: count))?.records
        }
        guard let records, !records.isEmpty else { return }
        let settlements = try records.compactMap(settlement)
        guard !settlements.isEmpty else { return }
        _ = try simulation.attempt(Settle(settlements))
    }

    private func settlement(_ record: ResultsRecord) throws -> Settlement? {
        var settlement = Settlement(entry: record.id)
        var jobs: [String: Settlement.Job] = [:]
        switch record.content {
        case .gone: break
        case .closed(let reason, let body, let positions):
            let batch = try Batch(decoding: body)
            for position in positions.flatMap({ Array($0) }) {
                let id = batch.jobID(of: Int(batch.pushes[position].segment))
                jobs[id, default: .init(id: id)].failed += 1
                jobs[id, default: .init(id: id)].reasons[reason.rawValue, default: 0] += 1
            }
        case .report(let bytes):
            let entry = try ResultsEntry(decoding: bytes)
            for item in entry.items {
                let id = entry.jobID(of: item)
                var job = jobs[id] ?? .init(id: id)
                switch item.result {
                case .delivered: job.delivered += item.count
                case .failed(let failure):
                    job.failed += item.count
                    job.reasons[entry.text(failure.reason), default: 0] += item.count
                case .expired: job.expired += item.count
                case .retry(let retry):
                    job.waiting += item.count
                    if retry.why == .unknownOutcome { job.maybeDuplicated += item.count }
                    settlement.retries.append(try self.retry(entry, item, retry, lane: record.lane))
                }
                jobs[id] = job
            }
        }
        settlement.jobs = Array(jobs.values)
        return settlement
    }

    private func retry(
        _ entry: ResultsEntry, _ item: ResultsEntry.Item, _ retry: ResultsEntry.Retry, lane: Lane
    ) throws -> Settlement.Retry {
        var builder = BatchBuilder()
        entry.bytes.withUnsafeBytes { raw in
            builder.append(
                segment: UnsafeRawBufferPointer(rebasing: raw[retry.segment.encoded]), tokens: item.count,
                jobID: Array(entry.bytes[item.jobID]),
                isAtMostOnce: retry.segment.options.delivery == .atMostOnce)
        }
        let first = entry.pushes[retry.segment.pushes.lowerBound]
        let shard = ShardHash.shard(of: Array(entry.bytes[first.token]), shards: Simulation.shards)
        return Settlement.Retry(
            shard: shard, lane: lane, delay: .zero, tokens: item.count, body: builder.finish()!)
    }
}
