import EventLoop
import FarmConfiguration
import PushModel
import RedisClient
import StoreProtocol

/// Sends or drops dead letters of one app, step by step: each is done once, whatever happens to Redis or to this process.
@Loop final class ReplayAct {
    struct Settings: Sendable {
        /// The same name again goes on where it was, and takes nothing that came later.
        var name: String
        var filter: DeadLetterFilter
        /// The command as it was typed, for the audit log.
        var words: [String]
        /// Pushes, and whole letters: the last may bring some more.
        var limit: Int?
        /// Pushes a second that are put in.
        var rate: Int?
        var lane: Lane?
        var ttl: Int?
        var takesUnknown = false
        var isDropping = false
        var isDry = false
        /// Seconds for which the name is remembered, and the numbers of replays.
        var life = 14 * 86_400
    }

    struct Outcome: Sendable {
        var letters = 0
        var pushes = 0
        var jobs: [String] = []
        var left: [ReplayPlan.Left: Int] = [:]
        /// Why a job would be refused, of the first one.
        var refusal: String?
        /// Of an earlier run of the same name.
        var pushesBefore = 0
        /// It was interrupted before all was done.
        var isPart = false
    }

    private let store: DeadLetterStore
    private let settings: Settings
    private let end: EndSignal
    private var plan: ReplayPlan
    private var outcome = Outcome()
    private var step = 0
    private var until: EntryID?
    /// Of each old job the number of its last replay, as far as it is known here.
    private var numbers: [String: Int] = [:]
    private var lanes: [String: Lane] = [:]
    private var mayGoOn: ContinuousClock.Instant = .now
    var progress: (@Loop (Outcome) -> Void)?

    /// How long a step may wait for Redis; for room in a full app it waits as long as its operator does.
    private static let patience = Duration.seconds(60)

    init(_ store: DeadLetterStore, _ settings: Settings, now: Int64, end: EndSignal) {
        (self.store, self.settings, self.end) = (store, settings, end)
        plan = ReplayPlan(now: now)
        plan.hasNewTime = settings.ttl != nil
        plan.takesUnknown = settings.takesUnknown
        plan.takesPoison = settings.filter.reasons.contains("poison") || !settings.filter.ids.isEmpty
        if let rate = settings.rate { plan.limits.pushes = min(plan.limits.pushes, rate) }
        if let app { plan.limits.pushes = min(plan.limits.pushes, app.maxTokens) }
    }

    private var client: FarmClient { store.client }
    private var app: AppConfiguration? { client.configuration.app(named: store.app) }

    func run() async throws(CommandFailure) -> Outcome {
        if let before = try await client.call(ReadReplay(name: settings.name), store.app) {
            guard before.selection == selection else {
                throw .usage(
                    "the replay \(settings.name) was of \(before.selection); give this one another --id")
            }
            (step, until, outcome.pushesBefore) = (before.step, before.until, before.pushes)
        } else {
            until = try await store.last()
        }
        guard until != nil else { return outcome }
        var seen = outcome.pushesBefore
        try await store.read(settings.filter, until: until) { (letter) async throws(CommandFailure) in
            guard !self.end.isGiven, seen < self.settings.limit ?? .max else { return false }
            let left = self.plan.leftPushes
            try await self.take(letter)
            // What is left alone does not count.
            seen += letter.pushes - (self.plan.leftPushes - left)
            return !self.end.isGiven
        }
        if !end.isGiven {
            try await dropCollected(atLeast: 1)
            for group in plan.finish() { try await put(group) }
        }
        outcome.isPart = end.isGiven
        outcome.left = plan.left
        return outcome
    }

    private var selection: String { (settings.isDropping ? "drop " : "") + settings.filter.words }

    private var dropped: [(EntryID, Int)] = []

    private func take(_ letter: DeadLetter) async throws(CommandFailure) {
        guard settings.isDropping else {
            for group in plan.add(letter) { try await put(group) }
            return
        }
        dropped.append((letter.id, letter.pushes))
        try await dropCollected(atLeast: 500)
    }

    private func dropCollected(atLeast count: Int) async throws(CommandFailure) {
        guard dropped.count >= count else { return }
        let (letters, pushes) = (dropped.map(\.0), dropped.reduce(0) { $0 + $1.1 })
        dropped = []
        if settings.isDry { return self.count(letters.count, pushes) }
        do throws(StoreError) {
            try await perform(nil, letters)
        } catch .gone where letters.count > 1 {
            // Another run drops or sends some of them: those that are left go one by one.
            for letter in letters { try await drop(letter) }
        } catch {
            if case .gone = error { return }
            throw failure(error)
        }
    }

    private func drop(_ letter: EntryID) async throws(CommandFailure) {
        do throws(StoreError) { try await perform(nil, [letter]) } catch {
            if case .gone = error { return }
            throw failure(error)
        }
    }
}

extension ReplayAct {
    private func put(_ group: ReplayGroup) async throws(CommandFailure) {
        guard !end.isGiven else { return }
        if settings.isDry {
            guard try await check(group, number: 1) != nil else { return }
            outcome.jobs.append(
                ReplayJob.id(replaying: group.key.job, number: numbers[group.key.job, default: 0] + 1))
            numbers[group.key.job, default: 0] += 1
            return count(group.letters.count, group.pushes.count)
        }
        try await wait()
        while !end.isGiven {
            let number = numbers[group.key.job, default: 0] + 1
            guard let job = try await check(group, number: number) else { return }
            do throws(StoreError) {
                try await perform(job, group.letters)
                numbers[group.key.job] = number
                outcome.jobs.append(job.id)
                if let rate = settings.rate {
                    mayGoOn = max(mayGoOn, .now) + .seconds(1) * group.pushes.count / rate
                }
                return
            } catch .numberTaken(let last) {
                numbers[group.key.job] = last
            } catch {
                guard case .gone = error else { throw failure(error) }
                // Another run has some of its letters: the others wait for the next run.
                return
            }
        }
    }

    /// The job of a group, as far as the farm will take it.
    private func check(_ group: ReplayGroup, number: Int) async throws(CommandFailure) -> Replay.NewJob? {
        let old = group.key.job
        let id = ReplayJob.id(replaying: old, number: number)
        let text = ReplayJob(group: group, id: id, lane: try await lane(of: old), ttl: settings.ttl).text
        guard text.count <= app?.maxJobBytes ?? 64 << 20 else {
            plan.leave(group.pushes.count, .large)
            return nil
        }
        var limits = app?.jobLimits ?? JobLimits()
        limits.tokens = max(group.pushes.count, 1)
        do throws(JobError) {
            let job = try JobParser.parse(
                text, app: store.app, topic: app?.topic ?? "", now: plan.now, limits: limits)
            guard let bad = job.malformed.first else {
                return Replay.NewJob(text: text, old: old, id: id, number: number)
            }
            outcome.refusal = outcome.refusal ?? "\(bad.reason)"
        } catch {
            outcome.refusal = outcome.refusal ?? "\(error.field): \(error.reason)"
        }
        plan.leave(group.pushes.count, .refused)
        return nil
    }

    private func lane(of job: String) async throws(CommandFailure) -> Lane {
        if let lane = settings.lane ?? lanes[job] { return lane }
        let fields = try await client.call(ReadJobRecord(job: job), store.app)
        let lane = fields["lane"].flatMap { Lane(name: $0) } ?? .bulk
        if lanes.count < 10_000 { lanes[job] = lane }
        return lane
    }

    private func wait() async throws(CommandFailure) {
        while ContinuousClock.now < mayGoOn, !end.isGiven {
            try await sleep(min(mayGoOn - .now, .milliseconds(200)))
        }
    }

    private func sleep(_ time: Duration) async throws(CommandFailure) {
        do { try await Loop.sleep(for: max(time, .milliseconds(1))) } catch { throw .failed("interrupted") }
    }

    /// One step; again after a lost reply, and while the app is full.
    private func perform(_ job: Replay.NewJob?, _ letters: [EntryID]) async throws(StoreError) {
        guard let until else { return }
        let request = Replay(
            name: settings.name, step: step + 1, selection: selection, until: until, life: settings.life,
            stream: .dead, job: job, letters: letters)
        let appStore = AppStore(app: store.app, connection: client.redis)
        while true {
            switch try await appStore.performPatiently(request, within: Self.patience) {
            case .done(let letters, let pushes):
                step += 1
                return count(letters, pushes)
            case .doneBefore(_, let pushes):
                // The reply was lost.
                step += 1
                return count(letters.count, pushes - outcome.pushesBefore - outcome.pushes)
            case .full(let reason, let pause):
                outcome.refusal = FullReason.words(reason, store.app)
                guard !end.isGiven else { return }
                _ = try? await Loop.sleep(for: pause)
            }
        }
    }

    private func failure(_ error: StoreError) -> CommandFailure {
        guard case .outOfStep = error else { return client.failure(error) }
        return .failed(
            "another run works under --id \(settings.name); when it has ended, the same command continues"
        )
    }

    private func count(_ letters: Int, _ pushes: Int) {
        outcome.letters += letters
        outcome.pushes += pushes
        progress?(outcome)
    }
}
