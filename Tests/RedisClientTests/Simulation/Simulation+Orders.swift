import PushModel

@testable import RedisClient
@testable import StoreProtocol

/// The commands of operators.
extension Simulation {
    private static let by = "me@here"

    func cancel() throws {
        guard let number = pick(jobs.indices.filter { jobs[$0].id != nil }), let id = jobs[number].id else {
            return
        }
        let later = chance(20) ? clock.redisMilliseconds + Int64(below(5_000)) : 0
        // The call may be executed even if its reply is lost. The job record shows at the end whether it was.
        jobs[number].mayBeCancelled = true
        note("an operator cancels \(id)")
        guard try attempt(ChangePauses(.cancel(id, from: later, keep: 259_200), by: Self.by)) != nil else {
            return
        }
        drainAndServeAgain([id], [])
    }

    func hold() throws {
        if chance(30) {
            guard let job = pick(jobs), let token = pick(job.tokens) else { return }
            let shard = ShardHash.shard(of: token, shards: Self.shards)
            note("an operator pauses token \(token.prefix(2))")
            if try attempt(ChangePauses(.token(token, shard: shard), by: Self.by)) != nil {
                drainAndServeAgain([], [shard])
            }
            return
        }
        guard let id = pick(jobs.compactMap(\.id)) else { return }
        note("an operator pauses \(id)")
        let kind: ChangePauses.Kind = chance(50) ? .pause : .quarantine
        if try attempt(ChangePauses(.job(id, kind), by: Self.by)) != nil { drainAndServeAgain([id], []) }
    }

    func resume() throws {
        switch below(3) {
        case 0: if let id = pick(jobs.compactMap(\.id)) { try resume(.pausedJob(id)) }
        case 1: if let id = pick(jobs.compactMap(\.id)) { try resume(.job(id)) }
        default: if let token = pick(try pauses(.tokens)) { try resume(.token(token.name)) }
        }
    }

    private func resume(_ what: ResumePaused.Selection) throws {
        note("an operator resumes \(what)")
        var next: Int? = 0
        while let start = next {
            let reply = try attempt(ResumePaused(what, start: start, limit: 1 + below(4)))
            next = reply?.next
        }
    }

    func promote() throws {
        guard let id = pick(jobs.compactMap(\.id)) else { return }
        note("an operator makes \(id) due")
        var next: Int? = 0
        while let start = next {
            next = try attempt(PromoteJob(job: id, start: start, limit: 1 + below(8)))?.next
        }
    }

    func pauses(_ kind: ReadPauses.Kind) throws -> [ReadPauses.Item] {
        let request = ReadPauses(kind)
        return request.pauses(try perform(request))
    }

    /// Tells workers at random to drain the batches of these jobs and shards. Some workers never receive this message.
    private func drainAndServeAgain(_ jobs: Set<String>, _ shards: Set<Int>) {
        for worker in hosts.flatMap(\.workers) where chance(85) { worker.drainAndServeAgain(jobs, shards) }
    }

    /// Resumes everything that operators or the farm have paused.
    func releaseAll() throws {
        for item in try pauses(.jobs) { try perform(ResumePaused(.job(item.text), limit: 1000)) }
        for item in try pauses(.tokens) { try perform(ResumePaused(.token(item.name), limit: 1000)) }
        try perform(ResumePaused(limit: 1000))
    }
}
