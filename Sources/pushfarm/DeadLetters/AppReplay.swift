import EventLoop
import FarmConfiguration
import PushModel
import RedisClient
import StoreProtocol

/// The dead letters to replay or drop, and the options of the run.
struct ReplaySettings: Sendable {
    /// The name of the replay. If an earlier run had the same name, this run continues the earlier run, and ignores
    /// dead letters that were added after the earlier run began.
    var name: String
    var filter: DeadLetterFilter
    /// The maximum number of pushes; nil means no limit. A dead letter with several pushes is never split, so the last
    /// one may exceed the limit.
    var limit: Int?
    /// Pushes per second that are submitted.
    var rate: Int?
    var lane: Lane?
    var ttl: Int?
    var takesUnknown = false
    var isDropping = false
    var isDry = false
    /// How many seconds Redis keeps the name of the replay and the numbers of its jobs.
    var life = 14 * 86_400
}

/// Replays or drops dead letters of one app in steps. Redis carries out each step only once, even if the step is
/// repeated after a failure of Redis or of this process.
@Loop final class AppReplay {
    struct Outcome: Sendable {
        var letters = 0
        var pushes = 0
        var jobs: [String] = []
        var skipped: [ReplayPlan.SkipReason: Int] = [:]
        /// Why the farm would refuse one of the jobs: the first reason that was found.
        var refusal: String?
        /// Pushes that an earlier run with the same name replayed.
        var pushesBefore = 0
        /// Whether the run was interrupted before its end.
        var isPart = false
    }

    private let client: FarmClient
    private let appName: String
    private let settings: ReplaySettings
    private let end: EndSignal
    private var plan: ReplayPlan
    private var outcome = Outcome()
    private var step = 0
    private var until: EntryID?
    private var toDrop: [EntryID] = []
    /// For each old job, the number of its last replay that this process knows.
    private var numbers: [String: Int] = [:]
    private var lanes: [String: Lane] = [:]
    private var mayGoOn: ContinuousClock.Instant = .now
    var progress: (@Loop (Outcome) -> Void)?

    /// How long a step may wait for Redis. If the app is full, the wait until it has room has no limit.
    private static let timeout = Duration.seconds(60)
    /// The number of dead letters that one step drops.
    private static let dropped = 500

    init(_ client: FarmClient, app name: String, _ settings: ReplaySettings, now: Int64, end: EndSignal) {
        (self.client, appName, self.settings, self.end) = (client, name, settings, end)
        plan = ReplayPlan(now: now)
        plan.hasNewTime = settings.ttl != nil
        plan.takesUnknown = settings.takesUnknown
        plan.takesPoison = settings.filter.reasons.contains("poison") || !settings.filter.ids.isEmpty
        if let rate = settings.rate { plan.limits.pushes = min(plan.limits.pushes, rate) }
        if let app { plan.limits.pushes = min(plan.limits.pushes, app.maxTokens) }
    }

    private var app: AppConfiguration? { client.configuration.app(named: appName) }

    private var selection: String { (settings.isDropping ? "drop " : "") + settings.filter.words }

    func run() async throws(CommandFailure) -> Outcome {
        if let before = try await client.call(ReadReplay(name: settings.name), appName) {
            guard before.selection == selection else {
                throw .usage(
                    "the replay \(settings.name) was of \(before.selection); use another --id")
            }
            (step, until, outcome.pushesBefore) = (before.step, before.until, before.pushes)
        } else {
            until = try await client.call(LastDeadLetter(), appName)
        }
        guard until != nil else { return outcome }
        var seen = outcome.pushesBefore
        try await client.readDeadLetters(of: appName, settings.filter, until: until) {
            (letter) async throws(CommandFailure) in
            guard !self.end.isGiven, seen < self.settings.limit ?? .max else { return false }
            let skipped = self.plan.skippedPushes
            try await self.take(letter)
            // Skipped pushes do not count towards the limit.
            seen += letter.pushes - (self.plan.skippedPushes - skipped)
            return !self.end.isGiven
        }
        if !end.isGiven {
            try await drop(toDrop)
            for group in plan.finish() { try await put(group) }
        }
        outcome.isPart = end.isGiven
        outcome.skipped = plan.skipped
        return outcome
    }

    private func take(_ letter: DeadLetter) async throws(CommandFailure) {
        guard settings.isDropping else {
            for group in plan.add(letter, of: appName) { try await put(group) }
            return
        }
        if settings.isDry { return count(1, letter.pushes) }
        toDrop.append(letter.id)
        guard toDrop.count >= Self.dropped else { return }
        let letters = toDrop
        toDrop = []
        try await drop(letters)
    }

    /// Drops dead letters. If another run has already taken some of them, drops the others one by one.
    private func drop(_ letters: [EntryID]) async throws(CommandFailure) {
        guard !letters.isEmpty else { return }
        do throws(StoreError) { _ = try await perform(nil, letters) } catch {
            guard case .gone = error else { throw failure(error) }
            guard letters.count > 1 else { return }
            for letter in letters { try await drop([letter]) }
        }
    }

    private func put(_ group: ReplayGroup) async throws(CommandFailure) {
        while ContinuousClock.now < mayGoOn, !end.isGiven {
            let pause = max(min(mayGoOn - .now, .milliseconds(200)), .milliseconds(1))
            do { try await Loop.sleep(for: pause) } catch { throw .failed("interrupted") }
        }
        while !end.isGiven {
            let number = numbers[group.key.job, default: 0] + 1
            guard let job = try await job(of: group, number: number) else { return }
            do throws(StoreError) {
                if settings.isDry {
                    count(group.letters.count, group.pushes)
                } else {
                    guard try await perform(job, group.ids) else { return }
                    if let rate = settings.rate {
                        mayGoOn = max(mayGoOn, .now) + .seconds(1) * group.pushes / rate
                    }
                }
                numbers[group.key.job] = number
                outcome.jobs.append(job.id)
                return
            } catch .replayNumberInUse(let last) {
                numbers[group.key.job] = last
            } catch {
                guard case .gone = error else { throw failure(error) }
                // Another run has taken some of these dead letters, so Redis refuses the step. The others stay, and a
                // later run can replay them.
                return
            }
        }
    }

    /// The job of a group, or nil when the farm would refuse the job.
    private func job(of group: ReplayGroup, number: Int) async throws(CommandFailure) -> Replay.NewJob? {
        let old = group.key.job
        let id = ReplayGroup.jobID(replaying: old, number: number)
        let text = group.job(id: id, lane: try await lane(of: old), ttl: settings.ttl)
        guard text.count <= app?.maxJobBytes ?? 64 << 20 else {
            plan.skip(group.pushes, .large)
            return nil
        }
        var limits = app?.jobLimits ?? JobLimits()
        limits.tokens = max(group.pushes, 1)
        do throws(JobError) {
            let job = try JobParser.parse(
                text, app: appName, topic: app?.topic ?? "", now: plan.now, limits: limits)
            guard let bad = job.malformed.first else {
                return Replay.NewJob(text: text, old: old, id: id, number: number)
            }
            outcome.refusal = outcome.refusal ?? "\(bad.reason)"
        } catch {
            outcome.refusal = outcome.refusal ?? "\(error.field): \(error.reason)"
        }
        plan.skip(group.pushes, .refused)
        return nil
    }

    private func lane(of job: String) async throws(CommandFailure) -> Lane {
        if let lane = settings.lane ?? lanes[job] { return lane }
        let fields = try await client.call(ReadJobRecord(job: job), appName)
        let lane = fields["lane"].flatMap { Lane(name: $0) } ?? .bulk
        if lanes.count < 10_000 { lanes[job] = lane }
        return lane
    }

    /// Performs one step. Repeats the step if Redis's reply is lost, and while the app is full.
    /// - Returns: false when the run was interrupted before the step was done.
    private func perform(_ job: Replay.NewJob?, _ letters: [EntryID]) async throws(StoreError) -> Bool {
        guard let until else { return false }
        let request = Replay(
            name: settings.name, step: step + 1, selection: selection, until: until, life: settings.life,
            stream: .dead, job: job, letters: letters)
        let store = AppRedis(app: appName, connection: client.redis)
        while true {
            switch try await store.performWithRetries(request, within: Self.timeout) {
            case .done(let letters, let pushes):
                step += 1
                count(letters, pushes)
                return true
            case .doneBefore(_, let pushes):
                // Redis had already carried out the step, but its reply was lost.
                step += 1
                count(letters.count, pushes - outcome.pushesBefore - outcome.pushes)
                return true
            case .full(let reason, let pause):
                outcome.refusal = FullReason.words(reason, appName)
                guard !end.isGiven else { return false }
                _ = try? await Loop.sleep(for: pause)
            }
        }
    }

    private func failure(_ error: StoreError) -> CommandFailure {
        guard case .outOfStep = error else { return client.failure(error) }
        return .failed(
            "another run uses --id \(settings.name); run the command again after its end"
        )
    }

    private func count(_ letters: Int, _ pushes: Int) {
        outcome.letters += letters
        outcome.pushes += pushes
        progress?(outcome)
    }
}
