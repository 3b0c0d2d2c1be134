import ControlChannel
import JobSplitting
import PushModel
import StoreProtocol

#if FAILPOINTS
    import Failpoints
#endif

/// The part of an app's intake that takes jobs from the inbox and parses them.
extension AppIntake {
    /// The maximum size in bytes of all jobs in one reply. A single job may be larger.
    private static let takenBytes = 4 << 20

    func take(_ token: FenceToken) async throws(StoreError) {
        let known = held
        let reply = try await retrying(
            Take(
                token: token, known: known, maxJobs: limits.jobs, maxBytes: Self.takenBytes,
                maxJobBytes: Int(setup.maxJobBytes)))
        heldBack = reply.heldBack
        isInboxEmpty = reply.jobs.isEmpty && known == 0
        if known == 0 {
            (step, head) = (reply.step, reply.head)
        } else if reply.step != step {
            throw .outOfStep(reply.step)
        }
        if reply.refused > 0 {
            context.counts.jobs += UInt64(clamping: reply.refused)
            context.counts.refused += UInt64(clamping: reply.refused)
            log.notice(
                "jobs refused: larger than \(setup.maxJobBytes) bytes", metadata: ["jobs": "\(reply.refused)"]
            )
        }
        splitOneByOne(reply.suspects > 0)
        unparsed.insert(contentsOf: reply.jobs.reversed(), at: 0)
        hasMore = reply.jobs.count == limits.jobs || reply.jobs.reduce(0) { $0 + $1.count } >= Self.takenBytes
    }

    /// Returns the next step, after parsing as many jobs as the step may need.
    func prepare(_ token: FenceToken) async throws(StoreError) -> IntakeStep? {
        try await parse()
        if hasMore, unparsed.isEmpty, queue.count < limits.jobs, queue.openTokens < limits.tokens {
            try await take(token)
            try await parse()
        }
        return queue.next()
    }

    private func parse() async throws(StoreError) {
        while queue.count < limits.jobs, queue.openTokens <= limits.tokens, let raw = unparsed.popLast() {
            #if FAILPOINTS
                Failpoint.hit("intake.parse", of: String(decoding: raw, as: UTF8.self))
            #endif
            if let head {
                self.head = nil
                try await parse(raw, resuming: head)
            } else {
                parse(raw, now: context.redis.clock.seconds)
            }
        }
    }

    private func parse(_ raw: [UInt8], now: Int64) {
        do throws(JobError) {
            let job = try setup.parse(raw, now: now)
            let needsBudget = setup.needsBudget(job) && !lookups.isWaitingForRegistry
            queue.append(job, id: job.id ?? JobID.random(), needsLookup: needsBudget)
        } catch {
            queue.append(refused: raw, because: error)
        }
    }

    /// Parses a partly split job as of the time when its job record was created, so that the result is the same as when
    /// the job was first parsed.
    private func parse(_ raw: [UInt8], resuming head: IntakeHead) async throws(StoreError) {
        let jobRecord = try await retrying(ReadJobRecord(job: head.job))
        let record = JobRecord(id: head.job, app: name, fields: jobRecord)
        let now = record.map { $0.createdAt / 1000 } ?? context.redis.clock.seconds
        var limits = JobLimits(setup)
        limits.tokens = max(limits.tokens, record?.submitted ?? 0)
        // The job was already accepted, so topics that were configured later do not restrict it.
        limits.topics = nil
        let job: ParsedJob
        do throws(JobError) {
            job = try JobParser.parse(raw, app: name, topic: setup.topic, now: now, limits: limits)
        } catch {
            log.error(
                "a partly split job can no longer be parsed: the job's remaining pushes fail",
                metadata: ["job": "\(head.job)", "reason": "\(error)"])
            return queue.append(refused: raw, because: error)
        }
        guard job.id.map({ $0.utf8.elementsEqual(head.job.utf8) }) ?? true else {
            throw .unexpectedReply("the first taken job is not \(head.job), which is the partly split job")
        }
        queue.append(job, id: head.job, split: head.offset)
    }
}

extension IntakeSetup {
    /// Parses a job that waited in the app's inbox.
    ///
    /// - Parameter now: Redis's time in Unix seconds.
    func parse(_ raw: [UInt8], now: Int64) throws(JobError) -> ParsedJob {
        try JobParser.parse(raw, app: name, topic: topic, now: now, limits: JobLimits(self))
    }
}

extension JobLimits {
    /// The limits of the app's jobs.
    init(_ setup: IntakeSetup) {
        self.init(
            tokens: Int(setup.maxTokens),
            payloadBytes: setup.maxPayloadBytes == 0 ? .max : Int(setup.maxPayloadBytes),
            hasOneTopic: setup.hasOneTopic, topics: setup.topics, longestWait: JobLimits.intakeWait)
    }
}
