import Campaigns
import ControlChannel
import EventLoop
import Logging
import RedisClient
import Scheduling
import StoreProtocol

/// Runs the campaigns of an app, while this host has the intake's lease.
///
/// The intake creates campaigns from the list `campaigns`, marks devices from the list `done`, counts rewards
/// from the list `rewards`, and lets ``CampaignRunner`` send.
/// All state of campaigns is in Redis. If the process is killed, the next owner of the lease continues with the devices whose
/// bits are not set.
@Loop final class CampaignIntake {
    private let context: IntakeContext
    private var setup: IntakeSetup
    private let log: Logger
    private let zones: ZoneCatalog
    private let budget: BudgetTurn
    /// The connection to the Redis with the app's registry.
    private var registry: RedisConnection
    /// The unique name of this process.
    private let process = String(UInt64.random(in: .min ... .max), radix: 36)
    private let watcher: InboxWatcher<AwaitInput>
    private let work: LeasedTask
    private var services: CampaignServices?
    /// Nil until this process has read the campaigns.
    private var runner: CampaignRunner?
    /// Whether no campaign runs; false while this process does not know the campaigns.
    ///
    /// A campaign knows a device only by its ordinal, and its audience is the ordinals below the highest ordinal at its start. So
    /// while a campaign runs, a new device must not get a free ordinal: it would take the place of a removed device.
    private(set) var allowsReuseOfOrdinals = false

    /// - Parameters:
    ///   - registry: the connection to the Redis with the app's registry; nil: the farm's Redis.
    ///   - budget: shared with the app's look-ups.
    init(
        _ context: IntakeContext, _ setup: IntakeSetup, registry: RedisConnection? = nil, zones: ZoneCatalog,
        budget: BudgetTurn = BudgetTurn()
    ) {
        (self.context, self.setup, self.zones, self.budget) = (context, setup, zones, budget)
        self.registry = registry ?? context.redis
        var log = context.log
        log[metadataKey: "app"] = "\(setup.name)"
        self.log = log
        watcher = InboxWatcher(
            app: setup.name, settings: context.redis.settings,
            AwaitInput(.campaigns, timeout: WatchTimes.longest))
        work = LeasedTask { [watcher] in watcher.close() }
    }

    func start() {
        work.start { token throws(StoreError) in
            try await self.serve(token)
        } recover: { error, token in
            await self.recover(from: error, token)
        }
    }

    /// Ends the intake after the current step. The campaigns continue when an intake has the lease again.
    func stop() async { await work.stop() }

    /// Applies the setup to steps that are prepared from now on.
    func apply(_ setup: IntakeSetup, registry: RedisConnection) {
        (self.setup, self.registry) = (setup, registry)
        services?.setup = setup
        services?.audience.use(registry)
    }

    /// The numbers of the app's campaigns; nil while this process does not know the campaigns.
    var numbers: IntakeNotice.Heartbeat.CampaignNumbers? { runner?.numbers }

    /// Uses this fencing token for all further steps; nil stops the work.
    func setFenceToken(_ token: FenceToken?) { work.setFenceToken(token) }

    private func serve(_ token: FenceToken) async throws(StoreError) {
        // A blocking command waits for new inputs, while campaigns continue to send.
        let watch = Loop.task {
            while !Task.isCancelled {
                _ = await self.watcher.next()
                self.work.signal()
            }
        }
        let result: Result<Void, StoreError>
        do throws(StoreError) {
            try await run(token)
            result = .success(())
        } catch { result = .failure(error) }
        watch.cancel()
        watcher.close()
        await watch.value
        services?.registryOutage.stop()
        (services, runner, allowsReuseOfOrdinals) = (nil, nil, false)
        try result.get()
    }

    private func run(_ token: FenceToken) async throws(StoreError) {
        let services = CampaignServices(
            context, setup, token: token, registry: registry, zones: zones, budget: budget, process: process,
            log: log)
        self.services = services
        let runner = CampaignRunner(services)
        let campaigns = InputTaker(
            .campaigns, store: services.store, log: log, token: token, process: process,
            mostBytes: CampaignParser.longest)
        let done = InputTaker(
            .done, store: services.store, log: log, token: token, process: process,
            mostBytes: DoneReport.longest)
        let (inbox, reports) = (
            CampaignCreator(services: services, runner: runner), DoneMarker(services: services)
        )
        let rewards = InputTaker(
            .rewards, store: services.store, log: log, token: token, process: process,
            mostBytes: RewardReport.longest)
        let rewardInbox = RewardCounter(services)
        try await runner.load()
        self.runner = runner
        while work.mayServe(token) {
            var hasMore = try await campaigns.handleNext { input, step, index throws(StoreError) in
                try await inbox.handle(input, step: step, index: index)
            }
            guard work.mayServe(token) else { break }
            let hasMoreReports = try await services.registryOutage.perform { () throws(StoreError) in
                try await done.handleNext { input, _, index throws(StoreError) in
                    try await reports.handle(input, index: index)
                }
            }
            guard work.mayServe(token) else { break }
            let hasMoreRewards = try await services.registryOutage.perform { () throws(StoreError) in
                try await rewards.handleAll { inputs, _ throws(StoreError) in
                    try await rewardInbox.handle(inputs)
                }
            }
            hasMore = hasMore || hasMoreReports == true || hasMoreRewards == true
            guard work.mayServe(token) else { break }
            let wait = try await runner.turn()
            allowsReuseOfOrdinals = !runner.hasRunningCampaign
            if hasMore || wait == .zero {
                await Task.yield()
            } else {
                await work.wait(atMost: wait)
            }
        }
    }

    private func recover(from error: StoreError, _ token: FenceToken) async {
        await work.recover(from: error, of: "runner of campaigns", log) {
            context.notify(.fenced(app: setup.name, token: token.bytes))
        }
    }
}
