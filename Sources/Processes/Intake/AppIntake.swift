import ControlChannel
import EventLoop
import JobSplitting
import Logging
import RedisClient
import StoreProtocol

/// Turns the jobs of an app's inbox into job records and batches, as long as we have its lease.
///
/// Takes jobs, and carries out the steps that ``IntakeQueue`` plans. Every step names its number, so one that is made
/// again after a lost reply, or by the next owner after a crash, is done once.
@Loop final class AppIntake {
    let context: IntakeContext
    /// Names the app in every line.
    let log: Logger
    let store: AppStore
    private(set) var setup: IntakeSetup
    /// What it does may end the process, and the coordinator knows it.
    private(set) var isWorking = false
    let limits: StepLimits
    private let watcher: InboxWatcher
    var queue: IntakeQueue
    /// Proof that the intake is ours; nil when it is not.
    private var token: FenceToken?
    /// Taken and not parsed, the first one last.
    var unparsed: [[UInt8]] = []
    /// The last step that was done.
    var step = 0
    /// The first taken job, when a part of it is split already and it is not in the queue.
    var head: IntakeHead?
    /// The last reply was as large as it may be.
    var hasMore = false
    /// There is nothing to take: the next job can be waited for.
    var isDrained = false
    /// The app or the farm is full: so long nothing more is taken.
    var heldBack: Duration?
    /// Jobs go one by one: one of them may have ended the process before.
    private var isOneByOne = true
    private var task: Task<Void, Never>?
    private let wakeUp = AsyncEvent()

    init(_ context: IntakeContext, _ setup: IntakeSetup, limits: StepLimits = StepLimits()) {
        (self.context, self.setup, self.limits) = (context, setup, limits)
        var log = context.log
        log[metadataKey: "app"] = "\(setup.name)"
        self.log = log
        store = AppStore(app: setup.name, connection: context.redis)
        watcher = InboxWatcher(app: setup.name, settings: context.redis.settings)
        queue = IntakeQueue(shards: context.shards, limits: limits)
    }

    var name: String { setup.name }

    func start() {
        guard task == nil else { return }
        task = Loop.task { await self.run() }
    }

    /// Ends after the step that is under way; jobs that are taken and not split wait in Redis.
    func stop() async {
        task?.cancel()
        wake()
        await task?.value
        task = nil
    }

    /// Applies to the jobs that are parsed from now on.
    func follow(_ setup: IntakeSetup) { self.setup = setup }

    /// Works under this token from now on, or not at all.
    func setToken(_ token: FenceToken?) {
        guard token != self.token else { return }
        self.token = token
        wake()
    }

    private func wake() {
        watcher.close()
        wakeUp.signal()
    }

    private func run() async {
        while !Task.isCancelled {
            guard let token else {
                await wakeUp.wait(atMost: .seconds(1))
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
        splitOneByOne(true)
        defer {
            becomeIdle()
            splitOneByOne(false)
        }
        while mayServe(token) {
            await work()
            try await take(token)
            while held > 0, mayServe(token) { try await carryOut(nextStep(token), token) }
            becomeIdle()
            if let heldBack {
                await wakeUp.wait(atMost: heldBack)
            } else {
                while isDrained, mayServe(token), let job = await watcher.next(), mayServe(token) {
                    try await splitAlone(job, token)
                }
            }
        }
    }

    /// The next step, which this process is at work on until it is made.
    func nextStep(_ token: FenceToken) async throws(StoreError) -> IntakeStep? {
        await work()
        let next = try await prepare(token)
        if isOneByOne { becomeIdle() }
        return next
    }

    private func mayServe(_ token: FenceToken) -> Bool { self.token == token && !Task.isCancelled }

    /// Jobs that are taken and not wholly split or refused.
    var held: Int { queue.count + unparsed.count }

    private func recover(from error: StoreError, _ token: FenceToken) async {
        guard !Task.isCancelled else { return }
        switch error {
        case .fenced:
            log.notice("another owner has the intake")
            context.notify(.fenced(app: name, token: token.bytes))
            await wakeUp.wait(atMost: .seconds(1))
        case .outOfStep, .fewerTaken, .exists:
            log.notice(
                "intake restarted: Redis went back in time, or another coordinator took over",
                metadata: ["reason": "\(error)"])
            await wakeUp.wait(atMost: .milliseconds(50))
        default:
            log.error("the intake cannot continue", error: error)
            await wakeUp.wait(atMost: .seconds(5))
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
        context.notify(.works(app: name))
    }

    func becomeIdle() {
        guard isWorking else { return }
        isWorking = false
        context.notify(.idle(app: name))
        context.turn.end(name)
    }

    func splitOneByOne(_ isOneByOne: Bool) {
        self.isOneByOne = isOneByOne
        context.turn.set(name, isOneByOne: isOneByOne)
    }
}
