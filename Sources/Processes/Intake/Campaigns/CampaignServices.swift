import Campaigns
import ControlChannel
import EventLoop
import Logging
import PushModel
import RedisClient
import Scheduling
import StoreProtocol

/// What all campaigns of one app share while this process owns the app's intake under one fencing token.
@Loop final class CampaignServices {
    let context: IntakeContext
    let store: AppRedis
    let log: Logger
    let token: FenceToken
    let zones: ZoneCatalog
    let budget: BudgetTurn
    let audience: AudienceReader
    /// The app's settings, which may change at any time.
    var setup: IntakeSetup
    /// The unique name of this process.
    private let process: String
    private var names = 0
    private(set) lazy var cappedPeriods = CappedPeriods(self)
    private(set) lazy var registryOutage = RegistryOutage(log: log) { [audience] () throws(StoreError) in
        try await audience.probe()
    }

    init(
        _ context: IntakeContext, _ setup: IntakeSetup, token: FenceToken, registry: RedisConnection,
        zones: ZoneCatalog, budget: BudgetTurn, process: String, log: Logger
    ) {
        (self.context, self.setup, self.token, self.zones) = (context, setup, token, zones)
        (self.budget, self.process, self.log) = (budget, process, log)
        store = AppRedis(app: setup.name, connection: context.redis)
        audience = AudienceReader(store: store, registry: registry, log: log)
    }

    /// The time of Redis's clock, so that all hosts agree.
    var now: UTCTime { UTCTime(milliseconds: context.redis.clock.milliseconds) }

    /// When a campaign started; now if it has not started.
    func startTime(of record: CampaignRecord) -> UTCTime {
        record.startedAt.map { UTCTime(milliseconds: $0) } ?? now
    }

    /// A name that no other step or change of a campaign has.
    func uniqueName() -> String {
        names += 1
        return "\(process).\(names)"
    }

    /// How long to keep job records and campaigns after their end, in seconds.
    var keepSeconds: Int { Int(clamping: setup.jobRecordSeconds) }

    /// The app's rate limit for the whole farm, in pushes a second; nil if there is no limit.
    func rateLimit() async throws(StoreError) -> Double? {
        DesiredRate.limit(
            try await perform(ReadAppState()).rate, configured: setup.maxRate > 0 ? setup.maxRate : nil)
    }

    /// The limits of jobs, for the jobs of campaigns.
    var jobLimits: JobLimits { JobLimits(setup) }

    /// Repeats a request while Redis cannot carry it out or is unreachable. Logs each outage once.
    ///
    /// - Throws: an error that retries do not fix, or the last error when the task is cancelled.
    func perform<Step: Request>(_ request: Step) async throws(StoreError) -> Step.Reply {
        try await retrying("\(Step.self)") { () throws(StoreError) in try await self.store.perform(request) }
    }

    /// Repeats a call while Redis is unreachable.
    func retrying<Value: Sendable>(
        _ what: String, _ call: @Loop () async throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await OutageRetry(log: log, metadata: ["request": "\(what)"]).perform(call)
    }

    /// Runs work on data of producers. While any app's jobs are split one by one, no app splits jobs during this work. So if the
    /// process crashes, only one call or job can be the cause.
    func working<Value>(_ work: () -> Value) async -> Value {
        let turn = "campaigns of \(setup.name)"
        await context.isolation.begin(turn)
        defer { context.isolation.end(turn) }
        return work()
    }
}
