import ControlChannel
import EventLoop
import FarmConfiguration
import FarmPolicy
import Leasing
import Logging
import RedisClient
import StoreProtocol

/// Everything that this coordinator does for one app.
@Loop final class HostedApp {
    let context: AppContext
    let leases: AppLeases
    let credentials: AppCredentials
    /// Signals when leases were released.
    let releases = AsyncEvent()
    private let resultsConsumer: ResultsConsumer
    private let promoter: Promoter
    let feedback: FeedbackScheduler
    let pauseSync: PauseSync
    private(set) var configuration: AppConfiguration
    /// Whether this host's intake takes no jobs of the app.
    var isQuiet = false {
        didSet {
            leases.machine.isQuiet = isQuiet
            if isQuiet != oldValue { notifyIntake(intakeFence) }
        }
    }
    /// Whether the warning about a budget that is too small was logged.
    private var isBeyondBudget = false
    var errorShare = ErrorShare()
    /// Whether the app's registry does not reply. A short time without a connection, as after a start, is no outage.
    var registryOutage = LastingCondition(limit: .seconds(10))
    private(set) lazy var reclaim = BatchReclaim(context, leases) { [weak self] in self?.onShardsChanged() }

    init(_ configuration: AppConfiguration, shares: HostShares, _ shared: SharedAppContext) {
        self.configuration = configuration
        let name = configuration.name
        context = AppContext(name, shared)
        let machine = LeaseStateMachine(
            host: shared.host, shards: shared.shards, shares: shares, nonce: shared.nonce,
            predecessor: shared.predecessor)
        leases = AppLeases(machine, store: context.store, log: context.log)
        credentials = AppCredentials(configuration, context)
        promoter = Promoter(context)
        resultsConsumer = ResultsConsumer(context)
        feedback = FeedbackScheduler(context)
        pauseSync = PauseSync(context)
        pauseSync.isOwner = { [leases] in leases.machine.intake != nil }
        pauseSync.onPausedShardsChanged = { [weak self] in self?.onShardsChanged() }
        credentials.onAppState = { [pauseSync] in await pauseSync.apply($0) }
        applyRetention()
        context.paused = { [weak credentials] in
            guard let credentials else { return }
            Loop.task { await credentials.refresh() }
        }
        leases.onAcquired = { [weak self] shards in
            guard let self else { return false }
            return await reclaim.reclaim({ .allBut(shared.liveWorkers()) }, shards: shards)
        }
        leases.onRelease = { [releases] in
            FarmRedis(connection: shared.redis).send(FarmMessage.leasesReleased(app: name).text)
            releases.signal()
        }
    }

    var name: String { context.name }
    var store: AppRedis { context.store }
    var log: Logger { context.log }

    private func notifyIntake(_ message: IntakeMessage) { context.shared.notifyIntake(message) }

    func start() async {
        notifyIntake(.app(intakeSetup))
        await credentials.start()
        leases.onChange = { [weak self] in self?.leasesChanged() }
        resultsConsumer.start()
        promoter.start()
    }

    func change(to configuration: AppConfiguration) async {
        if configuration.budget != self.configuration.budget { isBeyondBudget = false }
        self.configuration = configuration
        applyRetention()
        notifyIntake(.app(intakeSetup))
        await credentials.change(to: configuration)
    }

    private func applyRetention() {
        context.retention.suppressed = configuration.suppressionLimit(shards: context.shards)
        context.retention.guardHoldShare = configuration.suppression.holdShare
        context.retention.guardPauseShare = configuration.suppression.pauseShare
        context.retention.deadLetterPushes = configuration.deadLetters.pushes
        context.retention.deadBytes = configuration.deadLetters.megabytes << 20
        context.retention.deadSeconds = configuration.deadLetters.days * 86_400
        context.retention.auditBytes = configuration.audit.megabytes << 20
        context.retention.auditSeconds = configuration.audit.hours * 3600
    }

    /// Stops all work for the app and releases the app's leases.
    func stop() async {
        notifyIntake(.forget(app: name))
        await resultsConsumer.stop()
        await promoter.stop()
        await leases.leave()
    }

    /// Soon reads the app's credential files and its state in Redis again. If this function is called several times
    /// before it reads, it reads only once.
    private(set) lazy var refreshSoon = WakeUp { [weak self] in await self?.credentials.refresh() }

    /// Soon starts a reading of the feedback service, if a reading is due and this host has the app's intake.
    private(set) lazy var readFeedbackSoon = WakeUp { [weak self] in await self?.readFeedbackIfDue() }

    /// Whether this host monitors the app's backlog and faults. The host with the app's intake monitors the app.
    /// If Redis refuses the leases to all hosts, the first host monitors the app.
    func isWatched(isFirstHost: Bool) -> Bool {
        leases.machine.intake != nil || leases.isRefused && isFirstHost
    }

    func readFeedbackIfDue() async { await feedback.readIfDue(configuration, intake: leases.machine.intake) }

    /// If this host has the app's intake, suppresses the tokens that the guard keeps for confirmation, as soon as the
    /// share of bad tokens has fallen below the limit.
    func applyUnconfirmed() async {
        while leases.machine.intake != nil {
            let step = ResolveUnconfirmed(.due, limit: context.retention.suppressed)
            // After an error, the next call of this function continues the work.
            guard let reply = try? await store.perform(step), reply.done > 0 else { return }
        }
    }

    /// Drops old entries from the suppression lists, if this host has the app's intake.
    func dropOldSuppressed() async {
        guard leases.machine.intake != nil else { return }
        let oldest = context.clock.seconds - Int64(configuration.suppression.days) * 86_400
        for shard in 0..<context.shards {
            // After an error, the next call of this function tries this shard again.
            _ = try? await store.perform(DropOldSuppressed(shard: shard, before: oldest * 1000))
        }
    }

    /// Drops dead letters and audit records that are too old or too many, if this host has the app's intake.
    func dropOldDeadLetters() async {
        while leases.machine.intake != nil {
            let hasMore = try? await store.perform(
                TrimDeadLetters(context.retention, now: context.clock.seconds))
            // After an error, the next call of this function continues the work.
            guard hasMore == true else { return }
        }
    }

    /// Adds an event to the stream that the app's producers read.
    func announce(_ kind: FarmEvent.Kind, _ fields: KeyValuePairs<String, String>) {
        var event = FarmEvent(kind)
        for (name, value) in fields { event.add(name, value) }
        store.send(AddEvent(event)) { _ in }
    }

    /// Warns once if the connection budget is below the number of workers, so that a worker with these shards opens a
    /// connection beyond the budget.
    func noteBudget(_ given: Set<Int>) {
        let share = FarmBudget(configuration.budget).share(of: given, among: context.shards)
        guard share.isBeyond, !isBeyondBudget else { return }
        isBeyondBudget = true
        log.warning(
            "budget.max_conns is below the number of workers: each worker still opens one connection",
            metadata: ["max_conns": "\(configuration.budget.maxConnections ?? 0)"])
        announce(
            .budgetTooFewConnections, ["host": context.host, "reason": "max_conns is less than the workers"])
    }

    /// Settles entries of the results stream that another host, or the predecessor of this process, had read and not
    /// settled when it left.
    func claimAbandonedResults() { resultsConsumer.claim() }

    func workerReported() { resultsConsumer.wake() }

    /// - Parameter memory: the bytes that Redis may use; 0 if unknown.
    func limits(memory: Int) -> AppLimits {
        let share = memory > 0 ? memory / 4 : 1 << 30
        return AppLimits(
            backlog: configuration.maxBacklog, inbox: configuration.maxInbox,
            inboxBytes: configuration.maxInboxBytes ?? share, jobBytes: configuration.maxJobBytes)
    }

    /// Seconds to keep a job record after its job is finished.
    var jobRecordSeconds: Int { context.retention.jobRecordSeconds }

    /// Wakes the promoter after batches were delayed; `earliest` is the time until the first batch is due.
    func batchesDelayed(_ earliest: Duration) { context.onDelayedBatches(earliest) }

    /// The shards of one worker, with their fencing tokens.
    func shards(where isHis: (Int) -> Bool) -> [WorkerMessage.Shard] {
        leases.machine.served.sorted { $0.key < $1.key }.filter { isHis($0.key) }.map {
            WorkerMessage.Shard(number: UInt16($0.key), fence: $0.value.bytes)
        }
    }

    var onShardsChanged: @Loop () -> Void = {}

    private func leasesChanged() {
        notifyIntake(intakeFence)
        onShardsChanged()
    }
}
