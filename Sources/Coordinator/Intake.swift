import EventLoop
import FarmStore
import Logging
import PushModel

#if FAILPOINTS
    import Failpoints
#endif

/// Turns the jobs of an app's inbox into accounts and batches, as long as the lease on it is ours.
///
/// Takes jobs, and carries out the steps that ``IntakeQueue`` plans. Every step names its number, so one that is made
/// again after a lost reply, or by the next owner after a crash, is done once.
@Loop final class Intake {
    private let desk: AppDesk
    private let limits: StepLimits
    private let watcher: InboxWatcher
    private var queue: IntakeQueue
    /// Taken and not parsed, the first one last.
    private var unparsed: [[UInt8]] = []
    /// The last step that was done.
    private var step = 0
    /// The first taken job, when a part of it is split already and it is not in the queue.
    private var head: IntakeHead?
    /// The last reply was as large as it may be.
    private var hasMore = false
    /// The app or the farm is full: so long nothing more is taken.
    private var heldBack: Duration?
    /// The lease under which it works now.
    private var served: FenceToken?
    private var task: Task<Void, Never>?
    private let bell = Bell()

    /// Bytes of the jobs of one reply; one job may go beyond.
    private static let takenBytes = 4 << 20

    /// - Parameter watch: for a connection of its own, on which the inbox is watched.
    init(_ desk: AppDesk, watch: RedisSettings, limits: StepLimits = StepLimits()) {
        self.desk = desk
        self.limits = limits
        watcher = InboxWatcher(app: desk.name, settings: watch)
        queue = IntakeQueue(shards: desk.shards, limits: limits)
    }

    func start() {
        guard task == nil else { return }
        task = Task { @Loop in await run() }
    }

    /// Ends after the step that is under way; what is taken and not split waits in Redis.
    func stop() async {
        task?.cancel()
        watcher.close()
        bell.ring()
        await task?.value
        task = nil
    }

    /// ``AppDesk/intakeToken`` may have changed.
    func leaseChanged() {
        guard desk.intakeToken != served else { return }
        watcher.close()
        bell.ring()
    }

    private func run() async {
        while !Task.isCancelled {
            guard let token = desk.intakeToken else {
                await bell.wait(atMost: .seconds(1))
                continue
            }
            do throws(StoreError) {
                try await serve(token)
            } catch {
                await recover(from: error)
            }
        }
        watcher.close()
    }

    private func serve(_ token: FenceToken) async throws(StoreError) {
        served = token
        defer { served = nil }
        (step, head, hasMore, unparsed) = (0, nil, false, [])
        queue.removeAll()
        while desk.intakeToken == token, !Task.isCancelled {
            try await take(token)
            if held == 0 {
                if let heldBack { await bell.wait(atMost: heldBack) } else { await watcher.wait() }
            }
            while held > 0, desk.intakeToken == token, !Task.isCancelled {
                try await parse()
                if hasMore, unparsed.isEmpty, queue.count < limits.jobs, queue.openTokens < limits.tokens {
                    try await take(token)
                    try await parse()
                }
                try await doStep(token)
            }
        }
    }

    /// Jobs that are taken and not wholly split or refused.
    private var held: Int { queue.count + unparsed.count }

    private func recover(from error: StoreError) async {
        guard !Task.isCancelled else { return }
        switch error {
        case .fenced:
            desk.log.notice("the intake has another owner", metadata: ["app": "\(desk.name)"])
            desk.doubtLease()
            await bell.wait(atMost: .seconds(1))
        case .outOfStep, .fewerTaken, .exists:
            desk.log.notice(
                "the intake starts anew: Redis went back, or another coordinator went on",
                metadata: ["app": "\(desk.name)", "reason": "\(error)"])
            await bell.wait(atMost: .milliseconds(50))
        default:
            desk.log.error("the intake stands still", metadata: ["app": "\(desk.name)", "error": "\(error)"])
            await bell.wait(atMost: .seconds(5))
        }
    }
}

// MARK: Steps

extension Intake {
    private func take(_ token: FenceToken) async throws(StoreError) {
        let known = held
        let reply = try await desk.patiently(
            Take(
                token: token, known: known, maxJobs: limits.jobs, maxBytes: Self.takenBytes,
                maxJobBytes: desk.maxJobBytes))
        heldBack = reply.heldBack
        if known == 0 {
            (step, head) = (reply.step, reply.head)
        } else if reply.step != step {
            throw .outOfStep(reply.step)
        }
        if reply.refused > 0 {
            desk.log.notice(
                "jobs refused: larger than \(desk.maxJobBytes) bytes",
                metadata: ["app": "\(desk.name)", "jobs": "\(reply.refused)"])
        }
        unparsed.insert(contentsOf: reply.jobs.reversed(), at: 0)
        hasMore = reply.jobs.count == limits.jobs || reply.jobs.reduce(0) { $0 + $1.count } >= Self.takenBytes
    }

    /// Parses as many jobs as a step may need.
    private func parse() async throws(StoreError) {
        while queue.count < limits.jobs, queue.openTokens <= limits.tokens, let raw = unparsed.popLast() {
            #if FAILPOINTS
                Failpoint.hit("intake.parse", of: String(decoding: raw, as: UTF8.self))
            #endif
            if let head {
                self.head = nil
                try await parse(raw, resuming: head)
            } else {
                parse(raw, now: WallClock.seconds)
            }
        }
    }

    private func parse(_ raw: [UInt8], now: Int64) {
        do throws(JobError) {
            let job = try JobParser.parse(
                raw, app: desk.name, topic: desk.topic, now: now, limits: JobLimits(tokens: desk.maxTokens))
            queue.append(job, id: job.id ?? JobID.random())
        } catch {
            queue.append(refused: raw, because: error)
        }
    }

    /// Parses a job that was split in part: as of the time when its account was opened, so that it reads the same.
    private func parse(_ raw: [UInt8], resuming head: IntakeHead) async throws(StoreError) {
        let account = try await desk.patiently(ReadAccount(job: head.job))
        let books = Account(id: head.job, app: desk.name, fields: account)
        let now = books.map { $0.createdAt / 1000 } ?? WallClock.seconds
        let limits = JobLimits(tokens: max(desk.maxTokens, books?.submitted ?? 0))
        let job: ParsedJob
        do throws(JobError) {
            job = try JobParser.parse(raw, app: desk.name, topic: desk.topic, now: now, limits: limits)
        } catch {
            // To refuse it would lose the rest of an accepted job.
            throw .unexpectedReply("job \(head.job), split in part, does not parse any more: \(error)")
        }
        guard job.id.map({ $0.utf8.elementsEqual(head.job.utf8) }) ?? true else {
            throw .unexpectedReply("the first taken job is not \(head.job), which is split in part")
        }
        queue.append(job, id: head.job, split: head.offset)
    }

    private func doStep(_ token: FenceToken) async throws(StoreError) {
        switch queue.next() {
        case nil: break
        case .refuse(let refusal): try await refuse(refusal, token)
        case .split(let plan): try await split(plan, token)
        }
    }

    private func refuse(_ refusal: IntakeStep.Refusal, _ token: FenceToken) async throws(StoreError) {
        desk.log.info(
            "job refused",
            metadata: [
                "app": "\(desk.name)", "job": "\(refusal.job ?? "")", "field": "\(refusal.field)",
                "reason": "\(refusal.reason)",
            ])
        _ = try await desk.patiently(
            Refuse(
                token: token, step: step + 1, job: refusal.job, field: refusal.field,
                position: refusal.position,
                reason: refusal.reason, original: refusal.original))
        advance()
    }

    private func split(_ plan: IntakeStep.Plan, _ token: FenceToken) async throws(StoreError) {
        let request = Split(
            token: token, step: step + 1, dropped: plan.dropped, head: plan.head, jobs: plan.jobs,
            batches: plan.batches, retention: desk.retention)
        do throws(StoreError) {
            switch try await desk.patiently(request) {
            case .done(let rung, let nextDue):
                advance()
                if !rung.isEmpty { desk.ring(rung) }
                if let nextDue { desk.putOff(nextDue) }
            case .doneBefore:
                advance()
                desk.ring(plan.rung)
                desk.putOff(.zero)
            }
        } catch {
            guard case .exists(let id) = error, queue.refuseDuplicate(id) else { throw error }
        }
    }

    private func advance() {
        step += 1
        queue.done()
    }
}
