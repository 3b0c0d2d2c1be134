import ControlChannel
import EventLoop
import JobSplitting
import Logging
import RedisClient
import Scheduling
import StoreProtocol

/// Turns the jobs of an app's inbox into job records and batches, while this host has the intake's lease.
///
/// The intake takes jobs, and carries out the steps that ``IntakeQueue`` plans. Every step has a number. If a step is
/// repeated after a lost reply, or by the next owner after a crash, it takes effect only once.
@Loop final class AppIntake {
    let context: IntakeContext
    /// A logger that adds the app's name to every line.
    let log: Logger
    let store: AppRedis
    private(set) var setup: IntakeSetup
    /// Whether this process handles jobs of the app, which may crash it. The coordinator is notified before the
    /// handling begins.
    private(set) var isWorking = false
    let limits: StepLimits
    /// Looks up the users, devices and tokens of jobs.
    let lookups: RecipientLookups
    private let watcher: InboxWatcher<NextJob>
    var queue: IntakeQueue
    /// Jobs that are taken and not parsed, in reverse order.
    var unparsed: [[UInt8]] = []
    /// The number of the last step that was done.
    var step = 0
    /// The first taken job, if it is partly split and not yet in the queue.
    var head: IntakeHead?
    /// Whether the last reply had as many jobs or bytes as a reply may have, so that Redis may have more jobs.
    var hasMore = false
    /// Whether the inbox is empty, so that the intake can wait for the next job.
    var isInboxEmpty = false
    /// How long the intake waits until it takes jobs again, because the app or the farm is full; nil if jobs can be
    /// taken now.
    var heldBack: Duration?
    /// Whether jobs are split one by one, because one of the jobs may have crashed an earlier process.
    private var isOneByOne = true
    private let leased: LeasedTask

    /// - Parameters:
    ///   - registry: the connection to the Redis with the app's registry; nil: the farm's Redis.
    ///   - budget: shared with the app's campaigns.
    init(
        _ context: IntakeContext, _ setup: IntakeSetup, registry: RedisConnection? = nil,
        zones: ZoneCatalog, budget: BudgetTurn = BudgetTurn(), limits: StepLimits = StepLimits()
    ) {
        (self.context, self.setup, self.limits) = (context, setup, limits)
        var log = context.log
        log[metadataKey: "app"] = "\(setup.name)"
        self.log = log
        store = AppRedis(app: setup.name, connection: context.redis)
        lookups = RecipientLookups(
            context, setup, registry: registry ?? context.redis, zones: zones, budget: budget, log: log)
        watcher = InboxWatcher(
            app: setup.name, settings: context.redis.settings, NextJob(timeout: WatchTimes.longest))
        leased = LeasedTask { [watcher] in watcher.close() }
        queue = IntakeQueue(shards: context.shards, limits: limits)
    }

    var name: String { setup.name }

    func start() {
        lookups.start()
        leased.start { token throws(StoreError) in
            try await self.serve(token)
        } recover: { error, token in
            await self.recover(from: error, token)
        }
    }

    /// Ends the intake after the current step. Jobs that are taken and not split stay in Redis.
    func stop() async {
        await leased.stop()
        await lookups.stop()
    }

    /// Applies the setup to jobs that are parsed from now on.
    func apply(_ setup: IntakeSetup, registry: RedisConnection? = nil) {
        self.setup = setup
        lookups.apply(setup, registry: registry ?? context.redis)
    }

    /// Uses this fencing token for all further steps; nil stops the work.
    func setFenceToken(_ token: FenceToken?) {
        leased.setFenceToken(token)
        lookups.setFenceToken(token)
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
        while leased.mayServe(token) {
            await work()
            try await take(token)
            while held > 0, leased.mayServe(token) { try await carryOut(nextStep(token), token) }
            becomeIdle()
            if let heldBack {
                await leased.wait(atMost: heldBack)
            } else {
                while isInboxEmpty, leased.mayServe(token), let job = await watcher.next() ?? nil,
                    leased.mayServe(token)
                {
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

    /// The number of jobs that are taken and not completely split or refused.
    var held: Int { queue.count + unparsed.count }

    private func recover(from error: StoreError, _ token: FenceToken) async {
        await leased.recover(from: error, of: "intake", log) {
            log.notice("another host owns the app's intake")
            context.notify(.fenced(app: name, token: token.bytes))
        }
    }
}

// MARK: Working

extension AppIntake {
    /// Marks the process as working: from now on a job may crash the process. The coordinator is notified first.
    func work() async {
        guard !isWorking else { return }
        await context.isolation.begin(name)
        isWorking = true
        context.notify(.works(app: name))
    }

    func becomeIdle() {
        guard isWorking else { return }
        isWorking = false
        context.notify(.idle(app: name))
        context.isolation.end(name)
    }

    func splitOneByOne(_ isOneByOne: Bool) {
        self.isOneByOne = isOneByOne
        context.isolation.set(name, isOneByOne: isOneByOne)
    }
}
