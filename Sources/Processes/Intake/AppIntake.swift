import ControlChannel
import EventLoop
import JobSplitting
import Logging
import RedisClient
import StoreProtocol

/// Turns the jobs of an app's inbox into job records and batches, while this host has the intake's lease.
///
/// The intake takes jobs, and carries out the steps that ``IntakeQueue`` plans. Every step has a number. If a step is
/// repeated after a lost reply, or by the next owner after a crash, it takes effect only once.
@Loop final class AppIntake {
    let context: IntakeContext
    /// A logger that adds the app's name to every line.
    let log: Logger
    let store: AppStore
    private(set) var setup: IntakeSetup
    /// Whether the current work may crash the process. The coordinator is notified before the work begins.
    private(set) var isWorking = false
    let limits: StepLimits
    private let watcher: InboxWatcher<NextJob>
    var queue: IntakeQueue
    /// The fencing token that proves that this host owns the app's intake; nil if this host does not own it.
    private var token: FenceToken?
    /// Jobs that are taken and not parsed, in reverse order.
    var unparsed: [[UInt8]] = []
    /// The number of the last step that was done.
    var step = 0
    /// The first taken job, if it is partly split and not yet in the queue.
    var head: IntakeHead?
    /// Whether the last reply was full, so that Redis may have more jobs.
    var hasMore = false
    /// Whether the inbox is empty, so that the intake can wait for the next job.
    var isDrained = false
    /// How long the intake waits until it takes jobs again, because the app or the farm is full; nil if jobs can be
    /// taken now.
    var heldBack: Duration?
    /// Whether jobs are split one by one, because one of the jobs may have crashed an earlier process.
    private var isOneByOne = true
    private var task: Task<Void, Never>?
    private let wakeUp = AsyncEvent()

    init(_ context: IntakeContext, _ setup: IntakeSetup, limits: StepLimits = StepLimits()) {
        (self.context, self.setup, self.limits) = (context, setup, limits)
        var log = context.log
        log[metadataKey: "app"] = "\(setup.name)"
        self.log = log
        store = AppStore(app: setup.name, connection: context.redis)
        watcher = InboxWatcher(
            app: setup.name, settings: context.redis.settings, NextJob(timeout: WatchTimes.longest))
        queue = IntakeQueue(shards: context.shards, limits: limits)
    }

    var name: String { setup.name }

    func start() {
        guard task == nil else { return }
        task = Loop.task { await self.run() }
    }

    /// Ends the intake after the current step. Jobs that are taken and not split stay in Redis.
    func stop() async {
        task?.cancel()
        wake()
        await task?.value
        task = nil
    }

    /// Applies the setup to jobs that are parsed from now on.
    func apply(_ setup: IntakeSetup) { self.setup = setup }

    /// Uses this fencing token for all further steps; nil stops the work.
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
        // Split jobs one by one until Redis reports that no job is a suspect.
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
                while isDrained, mayServe(token), let job = await watcher.next() ?? nil, mayServe(token) {
                    try await splitAlone(job, token)
                }
            }
        }
    }

    /// Returns the next step, and marks this process as working until the step is done.
    func nextStep(_ token: FenceToken) async throws(StoreError) -> IntakeStep? {
        await work()
        let next = try await prepare(token)
        if isOneByOne { becomeIdle() }
        return next
    }

    private func mayServe(_ token: FenceToken) -> Bool { self.token == token && !Task.isCancelled }

    /// The number of jobs that are taken and not completely split or refused.
    var held: Int { queue.count + unparsed.count }

    private func recover(from error: StoreError, _ token: FenceToken) async {
        guard !Task.isCancelled else { return }
        switch error {
        case .fenced:
            log.notice("another host owns the app's intake")
            context.notify(.fenced(app: name, token: token.bytes))
            await wakeUp.wait(atMost: .seconds(1))
        case .outOfStep, .takenJobsDiffer, .exists:
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

// MARK: Working

extension AppIntake {
    /// Marks the process as working: from now on a job may crash the process. The coordinator is notified first.
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
