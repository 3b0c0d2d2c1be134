package import PushModel
import StoreProtocol

/// The jobs that the intake has taken from an inbox, in order. Plans the steps that split these jobs into batches.
///
/// ``next()`` plans a step and leaves the queue unchanged. After the caller has executed the step, it calls ``done()``, which
/// removes the step's jobs and pushes from the queue. Until then, the caller can repeat the step or plan a new one.
package struct IntakeQueue {
    private var jobs: [IntakeJob] = []
    private var packer: BatchPacker
    private let limits: StepLimits
    private var planned: Planned?
    /// The number of accepted pushes that are in no batch yet.
    package private(set) var openTokens = 0

    private struct Planned {
        var dropped = 0
        /// The progress of the first job that the step leaves in the queue; nil if the step splits none of this job's pushes.
        var progress: IntakeJob.Progress?
    }

    package init(shards: Int, limits: StepLimits = StepLimits()) {
        self.limits = limits
        packer = BatchPacker(shards: shards, limits: limits)
    }

    package var isEmpty: Bool { jobs.isEmpty }
    package var count: Int { jobs.count }

    /// - Parameters:
    ///   - split: the number of the job's accepted pushes that earlier steps have put into batches; nil for a new job.
    ///   - needsLookup: whether the devices of the job's tokens must be looked up first.
    package mutating func append(_ job: ParsedJob, id: String, split: Int? = nil, needsLookup: Bool = false) {
        guard job.recipients == nil, !needsLookup else {
            return jobs.append(IntakeJob(id: id, content: .lookup))
        }
        let progress = split.map { job.progress(accepted: $0) }
        jobs.append(IntakeJob(id: id, content: .parsed(job), progress: progress ?? .init()))
        openTokens += jobs[jobs.count - 1].openTokens
    }

    package mutating func append(refused original: [UInt8], because error: JobError) {
        let refusal = IntakeStep.Refusal(
            job: error.id, field: error.field, position: error.position, reason: error.reason,
            original: original)
        jobs.append(IntakeJob(id: error.id ?? "", content: .refused(refusal)))
    }

    package mutating func removeAll() {
        jobs = []
        planned = nil
        openTokens = 0
    }

    /// Plans the next step. Returns nil if the queue is empty.
    package mutating func next() -> IntakeStep? {
        switch jobs.first?.content {
        case nil: return nil
        case .refused(let refusal):
            planned = Planned(dropped: 1)
            return .refuse(refusal)
        case .parsed: return .split(plan())
        case .lookup:
            let count = jobs.prefix { $0.needsLookup }.count
            planned = Planned(dropped: count)
            return .queueLookups(count)
        }
    }

    /// Removes the jobs and pushes of the step that ``next()`` planned.
    package mutating func done() {
        guard let planned else { preconditionFailure("no step was planned") }
        self.planned = nil
        for job in jobs[..<planned.dropped] { openTokens -= job.openTokens }
        jobs.removeFirst(planned.dropped)
        if let progress = planned.progress {
            openTokens -= progress.accepted - jobs[0].progress.accepted
            jobs[0].progress = progress
        }
    }

    /// Drops the planned step, and marks the first new job with this id as refused: Redis already has a job record with the id.
    /// - Returns: false if the queue has no new job with this id.
    package mutating func refuseDuplicate(_ id: String) -> Bool {
        planned = nil
        for index in jobs.indices where !jobs[index].progress.isOpened {
            // Compares bytes: Swift strings with equivalent Unicode spellings are equal, but in Redis they are different ids.
            guard case .parsed(let job) = jobs[index].content, jobs[index].id.utf8.elementsEqual(id.utf8)
            else { continue }
            openTokens -= jobs[index].openTokens
            let reason = "a job with this id is open, or came within the last 24 hours"
            let refusal = IntakeStep.Refusal(
                job: id, field: "id", position: 0, reason: reason, original: job.raw, isDuplicate: true)
            jobs[index].content = .refused(refusal)
            return true
        }
        return false
    }

    private mutating func plan() -> IntakeStep.Plan {
        var plan = IntakeStep.Plan()
        var planned = Planned()
        var opened: Set<String> = []
        var events = limits.events
        packer.begin(endsEarly: openTokens > limits.tokens)
        for job in jobs {
            guard case .parsed(let parsed) = job.content, plan.jobs.count < limits.jobs,
                job.progress.isOpened || opened.insert(job.id).inserted
            else { break }
            var progress = job.progress
            let lines = packer.pack(parsed, id: job.id, from: &progress, events: events)
            let isWhole = progress.accepted == parsed.accepted && progress.malformed == parsed.malformed.count
            guard isWhole || progress != job.progress else { break }
            events -= lines.count
            plan.jobs.append(Split.Job(parsed, id: job.id, opens: !job.progress.isOpened, events: lines))
            progress.isOpened = true
            guard isWhole else {
                plan.head = IntakeHead(job: job.id, offset: progress.accepted)
                planned.progress = progress
                break
            }
            planned.dropped += 1
        }
        plan.dropped = planned.dropped
        plan.batches = packer.finish()
        self.planned = planned
        return plan
    }
}

extension Split.Job {
    fileprivate init(_ job: ParsedJob, id: String, opens: Bool, events: [FarmEvent]) {
        self.init(
            id: id, opens: opens, submitted: job.submitted, accepted: job.accepted,
            malformed: job.malformed.count, duplicates: job.duplicates,
            unknownRecipients: job.unknownRecipients, capped: job.capped ?? 0, lane: job.lane,
            replayOf: job.replayOf, warning: job.warning ?? "", events: events)
    }
}
