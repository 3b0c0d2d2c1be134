import ControlChannel
import EventLoop
import PushModel
import RedisClient
import Registry
import StoreProtocol

/// One step of the look-ups: reads waiting jobs, looks up their users or devices, and finishes the jobs.
@Loop struct LookupStep {
    let lookups: RecipientLookups
    let token: FenceToken
    /// Whether the step handles only one job, which an earlier process may have tried.
    let isAlone: Bool

    /// The maximum number of jobs of one step.
    private static let mostJobs = 64
    /// The maximum size in bytes of all jobs of one step, and of all their tokens. A single job may be larger.
    private static let mostBytes = 4 << 20
    /// The number of users or devices that are looked up together.
    private static let namesAtOnce = 200

    private var setup: IntakeSetup { lookups.setup }

    /// Reads the first waiting jobs.
    func take() async throws(StoreError) -> ReadLookups.Reply {
        let taken = try await retrying("take jobs", request(most: Self.mostJobs, triedBy: process))
        if taken.refused > 0 {
            lookups.context.counts.refused += UInt64(clamping: taken.refused)
            lookups.log.notice("job refused: it crashed the intake repeatedly")
        }
        return taken
    }

    /// Looks up the recipients of these jobs. Then puts the jobs with tokens into the inbox, and refuses the other jobs.
    func carryOut(_ taken: ReadLookups.Reply) async throws(StoreError) {
        let hasBudget = setup.backgroundBudget > 0
        // Campaigns change the counters of the budget, too. They also take the turn of the budget before the other turn.
        if hasBudget { guard await lookups.budget.begin() else { return } }
        defer { if hasBudget { lookups.budget.end() } }
        let (isolation, turn) = (lookups.context.isolation, "recipients of \(lookups.app)")
        await isolation.begin(turn)
        defer { isolation.end(turn) }
        let registry = try await retrying { () throws(StoreError) in
            try await RegistryReader.open(app: lookups.app, connection: lookups.registry)
        }
        let budget = hasBudget ? BudgetStep(lookups, registry) : nil
        var (jobs, bytes): ([FinishLookups.Job], Int) = ([], 0)
        for raw in taken.jobs {
            guard jobs.isEmpty || bytes < Self.mostBytes else { break }
            let job = try await job(raw, registry, budget)
            if case .found(let json) = job { bytes += json.count }
            jobs.append(job)
        }
        let request = FinishLookups(
            token: token, step: taken.step + 1, jobs: jobs, counters: budget?.counters ?? [],
            events: budget?.events ?? [])
        _ = try await retrying("finish jobs", request)
        let refusals = jobs.filter { if case .refused = $0 { true } else { false } }
        lookups.context.counts.jobs += UInt64(clamping: refusals.count)
        lookups.context.counts.refused += UInt64(clamping: refusals.count)
        if case .refused(let id, let field, _, let reason)? = refusals.first {
            lookups.log.info(
                "jobs refused",
                metadata: [
                    "jobs": "\(refusals.count)", "job": "\(id ?? "")", "field": "\(field)",
                    "reason": "\(reason)",
                ])
        }
    }

    /// The job with the tokens of its recipients and without the pushes that the budget leaves out, or why the job is refused.
    private func job(
        _ raw: [UInt8], _ registry: RegistryReader, _ budget: BudgetStep?
    ) async throws(StoreError) -> FinishLookups.Job {
        let found = try await self.job(raw, registry)
        guard let budget, case .found(let json) = found,
            let job = try? setup.parse(json, now: lookups.context.redis.clock.seconds), setup.needsBudget(job)
        else { return found }
        var capped: Set<Int> = []
        // The intake refuses a job with the id of another job. Its devices get no push, so nothing is counted.
        let isRepeated = if let id = job.id { try await isKnown(id) } else { false }
        if !isRepeated {
            capped = try await retrying { () throws(StoreError) in try await budget.capped(job) }
        }
        let rest = job.capping(capped) ?? json
        guard rest.count <= setup.maxJobBytes else {
            return .refused(
                id: job.id, field: "job", position: 0,
                reason:
                    "with the field capped, the job has \(rest.count) bytes; at most \(setup.maxJobBytes) are allowed"
            )
        }
        return .found(rest)
    }

    /// Whether a job with this id is open, or came within the last 24 hours.
    private func isKnown(_ id: String) async throws(StoreError) -> Bool {
        let fields = try await retrying("read a job record", ReadJobRecord(job: id))
        guard let record = JobRecord(id: id, app: lookups.app, fields: fields) else { return false }
        let age = lookups.context.redis.clock.milliseconds - record.createdAt
        return record.state != .finished || age < 86_400_000
    }

    /// The job with the tokens of its recipients, or why the job is refused.
    private func job(
        _ raw: [UInt8], _ registry: RegistryReader
    ) async throws(StoreError) -> FinishLookups.Job {
        let job: ParsedJob
        do throws(JobError) {
            job = try setup.parse(raw, now: lookups.context.redis.clock.seconds)
        } catch {
            return .refused(
                id: error.id, field: error.field, position: error.position, reason: error.reason)
        }
        // A job that has tokens needs no look-up.
        guard let recipients = job.recipients else { return .found(raw) }
        func refused(_ reason: String) -> FinishLookups.Job {
            .refused(id: job.id, field: recipients.fieldName, position: 0, reason: reason)
        }
        let tokens: [[[UInt8]]]
        do throws(StoreError) {
            guard let found = try await self.tokens(of: recipients, registry) else {
                return refused(
                    "the recipients have more than \(setup.maxTokens) tokens; send some of them in further jobs"
                )
            }
            tokens = found
        } catch {
            guard case .unexpectedReply(let what) = error else { throw error }
            lookups.log.error("a job is refused: the registry is damaged", error: error)
            return refused("the registry cannot be read: \(what)")
        }
        lookups.context.counts(of: lookups.app).lookups += UInt64(clamping: tokens.count)
        let json = recipients.job(raw, tokens: tokens)
        guard json.count <= setup.maxJobBytes else {
            return refused(
                "with its tokens, the job has \(json.count) bytes; at most \(setup.maxJobBytes) are allowed")
        }
        return .found(json)
    }

    /// The tokens of each recipient, in order: one for each device that can get pushes.
    ///
    /// - Returns: nil if there are more tokens than a job may have.
    private func tokens(
        of recipients: NamedRecipients, _ registry: RegistryReader
    ) async throws(StoreError) -> [[[UInt8]]]? {
        let index: RegistryIndex = recipients.kind == .users ? .user : .id
        let environment: DeviceAddress.Environment = setup.isSandbox ? .sandbox : .production
        var (tokens, count): ([[[UInt8]]], Int) = ([], 0)
        while tokens.count < recipients.names.count {
            let names = Array(recipients.names.dropFirst(tokens.count).prefix(Self.namesAtOnce))
            let found = try await retrying { () throws(StoreError) in
                try await registry.recipients(names, index)
            }
            for devices in found {
                tokens.append(devices.compactMap { $0.token(in: environment) })
                count += tokens.last?.count ?? 0
            }
            guard count <= Int(setup.maxTokens) else { return nil }
        }
        return tokens
    }
}

// MARK: Calls

extension LookupStep {
    private var process: String? { isAlone ? lookups.process : nil }

    private func request(most: Int, triedBy process: String?) -> ReadLookups {
        ReadLookups(token: token, maxJobs: most, maxBytes: Self.mostBytes, triedBy: process)
    }

    /// Repeats reads of the registry while its Redis is unreachable or busy. While this process waits for Redis, other
    /// apps may split their jobs one by one, and a kill of the process does not count against the job that is looked
    /// up.
    private func retrying<Value: Sendable>(
        _ read: @Loop () async throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let (isolation, turn) = (lookups.context.isolation, "recipients of \(lookups.app)")
        let retry = OutageRetry("the registry's Redis", log: lookups.log)
        defer { lookups.isWaitingForRegistry = false }
        do throws(StoreError) {
            return try await retry.perform(read) { isWaiting in
                guard isWaiting else { return await isolation.begin(turn) }
                isolation.end(turn)
                lookups.isWaitingForRegistry = true
                await forgetTries()
            }
        } catch {
            await forgetTries()
            throw error
        }
    }

    /// Makes Redis forget that this process tried a job, because the job has not crashed the process. A process that is stopped calls
    /// this too: a regular end is not a crash.
    private func forgetTries() async {
        guard isAlone else { return }
        _ = try? await lookups.store.perform(request(most: 0, triedBy: nil))
    }

    private func retrying<Step: Request>(
        _ what: String, _ request: Step
    ) async throws(StoreError) -> Step.Reply {
        let retry = OutageRetry(log: lookups.log, metadata: ["request": "\(what) with users or devices"])
        return try await retry.perform { () throws(StoreError) in try await lookups.store.perform(request) }
    }
}
