import EventLoop
import JobSplitting
import RedisClient
import StoreProtocol

/// The part of an app's intake that carries out steps in Redis.
extension AppIntake {
    func carryOut(_ step: IntakeStep?, _ token: FenceToken) async throws(StoreError) {
        switch step {
        case nil: break
        case .refuse(let refusal): try await refuse(refusal, token)
        case .queueLookups(let jobs):
            _ = try await retrying(QueueLookups(token: token, step: self.step + 1, jobs: jobs))
            advance(jobs: 0)
            lookups.wake()
        case .split(let plan): try await split(plan, token)
        }
    }

    private func refuse(_ refusal: IntakeStep.Refusal, _ token: FenceToken) async throws(StoreError) {
        let reply = try await retrying(
            Refuse(
                token: token, step: step + 1, job: refusal.job, field: refusal.field,
                position: refusal.position, reason: refusal.reason, original: refusal.original,
                isDuplicate: refusal.isDuplicate, retention: retention))
        advance(jobs: 1)
        if !refusal.isDuplicate { context.counts.refused += 1 }
        // A refusal that was only counted, and caused no event, is not logged, so that a flood of refusals does not
        // fill the log.
        guard reply != .counted else { return }
        log.info(
            refusal.isDuplicate ? "job is a duplicate" : "job refused",
            metadata: [
                "job": "\(refusal.job ?? "")", "field": "\(refusal.field)", "reason": "\(refusal.reason)",
            ])
    }

    /// The maximum size in bytes of a job that ``splitAlone(_:_:)`` splits. A larger job is read from Redis again,
    /// together with other taken jobs.
    private static let aloneBytes = 4096

    /// Splits a job that the watcher moved to the empty list of taken jobs, if one step is enough. A job that needs
    /// several steps stays in this list.
    func splitAlone(_ job: [UInt8], _ token: FenceToken) async throws(StoreError) {
        (isInboxEmpty, hasMore) = (false, false)
        guard job.count <= Self.aloneBytes else { return }
        unparsed = [job]
        if case .split(let plan) = try await nextStep(token), plan.dropped == 1 {
            try await split(plan, token, movedJob: job)
        }
        queue.removeAll()
        becomeIdle()
    }

    private func split(
        _ plan: IntakeStep.Plan, _ token: FenceToken, movedJob: [UInt8] = []
    ) async throws(StoreError) {
        let request = Split(
            token: token, step: step + 1, dropped: plan.dropped, head: plan.head, jobs: plan.jobs,
            batches: plan.batches, retention: retention, movedJob: movedJob)
        do throws(StoreError) {
            switch try await retrying(request) {
            case .done(_, let nextDue, let isInboxEmpty):
                self.isInboxEmpty = isInboxEmpty
                if let nextDue { context.notify(.delayed(app: name, milliseconds: nextDue.milliseconds)) }
            case .doneBefore:
                isInboxEmpty = false
                context.notify(.delayed(app: name, milliseconds: 0))
            }
            advance(jobs: plan.dropped)
            context.counts.pushes += UInt64(plan.batches.reduce(0) { $0 + $1.tokens })
        } catch {
            guard case .exists(let id) = error, queue.refuseDuplicate(id) else { throw error }
        }
    }

    private func advance(jobs: Int) {
        step += 1
        queue.done()
        context.counts.jobs += UInt64(jobs)
    }

    private var retention: Retention {
        var retention = Retention()
        retention.jobRecords = Int(setup.jobRecords)
        retention.jobRecordSeconds = Int(setup.jobRecordSeconds)
        return retention
    }
}

extension AppIntake {
    /// Repeats a request while Redis cannot carry it out or is unreachable. Logs each outage once.
    ///
    /// - Throws: an error that retries do not fix, or the last error when the task is cancelled.
    func retrying<Step: Request>(_ request: Step) async throws(StoreError) -> Step.Reply {
        var wasWorking = false
        let retry = OutageRetry(log: log, metadata: ["request": "\(Step.self)"])
        return try await retry.perform { () throws(StoreError) in
            try await store.perform(request)
        } onWait: { isWaiting in
            if isWaiting {
                // A kill during a Redis outage must not count as a job's crash.
                wasWorking = isWorking
                becomeIdle()
            } else if wasWorking {
                await work()
            }
        }
    }
}
