import ControlChannel
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
@Loop final class AppIntake {
    let context: IntakeContext
    let store: AppStore
    private(set) var setup: IntakeSetup
    /// What it does may end the process, and the coordinator knows it.
    private(set) var isWorking = false
    private let limits: StepLimits
    private let watcher: InboxWatcher
    private var queue: IntakeQueue
    /// Proof that the intake is ours; nil when it is not.
    private var token: FenceToken?
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
    /// Jobs go one by one: one of them may have ended the process before.
    private var isCareful = true
    private var task: Task<Void, Never>?
    private let bell = Bell()

    /// Bytes of the jobs of one reply; one job may go beyond.
    private static let takenBytes = 4 << 20

    init(_ context: IntakeContext, _ setup: IntakeSetup, limits: StepLimits = StepLimits()) {
        (self.context, self.setup, self.limits) = (context, setup, limits)
        store = AppStore(app: setup.name, connection: context.redis)
        watcher = InboxWatcher(app: setup.name, settings: context.redis.settings)
        queue = IntakeQueue(shards: context.shards, limits: limits)
    }

    var name: String { setup.name }

    func start() {
        guard task == nil else { return }
        task = Task { @Loop in await run() }
    }

    /// Ends after the step that is under way; what is taken and not split waits in Redis.
    func stop() async {
        task?.cancel()
        wake()
        await task?.value
        task = nil
    }

    /// Applies to the jobs that are parsed from now on.
    func follow(_ setup: IntakeSetup) { self.setup = setup }

    /// Works under this token from now on, or not at all.
    func hold(_ token: FenceToken?) {
        guard token != self.token else { return }
        self.token = token
        wake()
    }

    private func wake() {
        watcher.close()
        bell.ring()
    }

    private func run() async {
        while !Task.isCancelled {
            guard let token else {
                await bell.wait(atMost: .seconds(1))
                continue
            }
            do throws(StoreError) {
                try await serve(token)
            } catch {
                await recover(from: error, token)
            }
        }
        watcher.close()
    }

    private func serve(_ token: FenceToken) async throws(StoreError) {
        (step, head, hasMore, unparsed) = (0, nil, false, [])
        queue.removeAll()
        // Until Redis says that no job is under suspicion.
        beCareful(true)
        defer {
            rest()
            beCareful(false)
        }
        while mayServe(token) {
            await work()
            try await take(token)
            if held == 0 {
                rest()
                if let heldBack { await bell.wait(atMost: heldBack) } else { await watcher.wait() }
            }
            while held > 0, mayServe(token) {
                await work()
                let next = try await prepare(token)
                if isCareful { rest() }
                try await carryOut(next, token)
            }
        }
    }

    private func mayServe(_ token: FenceToken) -> Bool { self.token == token && !Task.isCancelled }

    /// Jobs that are taken and not wholly split or refused.
    private var held: Int { queue.count + unparsed.count }

    private func recover(from error: StoreError, _ token: FenceToken) async {
        guard !Task.isCancelled else { return }
        switch error {
        case .fenced:
            context.log.notice("the intake has another owner", metadata: ["app": "\(name)"])
            context.tell(.fenced(app: name, token: token.bytes))
            await bell.wait(atMost: .seconds(1))
        case .outOfStep, .fewerTaken, .exists:
            context.log.notice(
                "the intake starts anew: Redis went back, or another coordinator went on",
                metadata: ["app": "\(name)", "reason": "\(error)"])
            await bell.wait(atMost: .milliseconds(50))
        default:
            context.log.error("the intake stands still", metadata: ["app": "\(name)", "error": "\(error)"])
            await bell.wait(atMost: .seconds(5))
        }
    }
}

// MARK: At work

extension AppIntake {
    /// From now on an end of the process may be a job's doing. The coordinator knows before it can happen.
    func work() async {
        guard !isWorking else { return }
        await context.turn.begin(name)
        isWorking = true
        context.tell(.works(app: name))
    }

    func rest() {
        guard isWorking else { return }
        isWorking = false
        context.tell(.rests(app: name))
        context.turn.end(name)
    }

    private func beCareful(_ isCareful: Bool) {
        self.isCareful = isCareful
        context.turn.set(name, isCareful: isCareful)
    }
}

// MARK: Taking and parsing

extension AppIntake {
    private func take(_ token: FenceToken) async throws(StoreError) {
        let known = held
        let reply = try await patiently(
            Take(
                token: token, known: known, maxJobs: limits.jobs, maxBytes: Self.takenBytes,
                maxJobBytes: Int(setup.maxJobBytes)))
        heldBack = reply.heldBack
        if known == 0 {
            (step, head) = (reply.step, reply.head)
        } else if reply.step != step {
            throw .outOfStep(reply.step)
        }
        if reply.refused > 0 {
            context.counts.jobs += UInt64(reply.refused)
            context.counts.refused += UInt64(reply.refused)
            context.log.notice(
                "jobs refused: larger than \(setup.maxJobBytes) bytes",
                metadata: ["app": "\(name)", "jobs": "\(reply.refused)"])
        }
        beCareful(reply.careful > 0)
        unparsed.insert(contentsOf: reply.jobs.reversed(), at: 0)
        hasMore = reply.jobs.count == limits.jobs || reply.jobs.reduce(0) { $0 + $1.count } >= Self.takenBytes
    }

    /// The next step, after as many jobs were parsed as it may need.
    private func prepare(_ token: FenceToken) async throws(StoreError) -> IntakeStep? {
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
            let job = try JobParser.parse(
                raw, app: name, topic: setup.topic, now: now, limits: JobLimits(tokens: Int(setup.maxTokens)))
            queue.append(job, id: job.id ?? JobID.random())
        } catch {
            queue.append(refused: raw, because: error)
        }
    }

    /// Parses a job that was split in part: as of the time when its account was opened, so that it reads the same.
    private func parse(_ raw: [UInt8], resuming head: IntakeHead) async throws(StoreError) {
        let account = try await patiently(ReadAccount(job: head.job))
        let books = Account(id: head.job, app: name, fields: account)
        let now = books.map { $0.createdAt / 1000 } ?? context.redis.clock.seconds
        let limits = JobLimits(tokens: max(Int(setup.maxTokens), books?.submitted ?? 0))
        let job: ParsedJob
        do throws(JobError) {
            job = try JobParser.parse(raw, app: name, topic: setup.topic, now: now, limits: limits)
        } catch {
            context.log.error(
                "a job split in part does not parse any more: its other pushes fail",
                metadata: ["app": "\(name)", "job": "\(head.job)", "reason": "\(error)"])
            return queue.append(refused: raw, because: error)
        }
        guard job.id.map({ $0.utf8.elementsEqual(head.job.utf8) }) ?? true else {
            throw .unexpectedReply("the first taken job is not \(head.job), which is split in part")
        }
        queue.append(job, id: head.job, split: head.offset)
    }
}

// MARK: Steps

extension AppIntake {
    private func carryOut(_ step: IntakeStep?, _ token: FenceToken) async throws(StoreError) {
        switch step {
        case nil: break
        case .refuse(let refusal): try await refuse(refusal, token)
        case .split(let plan): try await split(plan, token)
        }
    }

    private func refuse(_ refusal: IntakeStep.Refusal, _ token: FenceToken) async throws(StoreError) {
        context.log.info(
            "job refused",
            metadata: [
                "app": "\(name)", "job": "\(refusal.job ?? "")", "field": "\(refusal.field)",
                "reason": "\(refusal.reason)",
            ])
        _ = try await patiently(
            Refuse(
                token: token, step: step + 1, job: refusal.job, field: refusal.field,
                position: refusal.position, reason: refusal.reason, original: refusal.original,
                retention: retention))
        advance(jobs: 1)
        context.counts.refused += 1
    }

    private func split(_ plan: IntakeStep.Plan, _ token: FenceToken) async throws(StoreError) {
        let request = Split(
            token: token, step: step + 1, dropped: plan.dropped, head: plan.head, jobs: plan.jobs,
            batches: plan.batches, retention: retention)
        do throws(StoreError) {
            switch try await patiently(request) {
            case .done(_, let nextDue):
                if let nextDue { context.tell(.putOff(app: name, milliseconds: nextDue.milliseconds)) }
            case .doneBefore: context.tell(.putOff(app: name, milliseconds: 0))
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
        retention.accounts = Int(setup.accounts)
        retention.accountSeconds = Int(setup.accountSeconds)
        return retention
    }
}
