import ControlChannel
import EventLoop
import Logging
import RedisClient
import Scheduling
import StoreProtocol

/// Looks up the tokens of jobs that name users or devices, and applies the budget of background pushes, while this host has the
/// intake's lease.
///
/// ``AppIntake`` queues such jobs, so jobs with tokens pass them. A look-up ends with one call that removes the job and puts the
/// same job with tokens into the inbox. So if the process is killed before this call, the next owner of the intake repeats the
/// look-up, and all steps that split the job use the tokens of one look-up.
@Loop final class RecipientLookups {
    let context: IntakeContext
    let log: Logger
    let store: AppRedis
    /// The unique name of this process.
    let process = String(UInt64.random(in: .min ... .max), radix: 36)
    private(set) var setup: IntakeSetup
    /// The connection to the Redis with the app's registry.
    private(set) var registry: RedisConnection
    let zones: ZoneCatalog
    let budget: BudgetTurn
    /// Whether the look-ups wait for the registry's Redis. Then the budget of background pushes does not apply to jobs with tokens,
    /// because jobs with tokens do not wait for the registry.
    var isWaitingForRegistry = false
    private let work: LeasedTask
    private let event: AsyncEvent

    /// The time after which the waiting jobs are read even if no job was queued.
    private static let longestWait = Duration.seconds(5)

    init(
        _ context: IntakeContext, _ setup: IntakeSetup, registry: RedisConnection, zones: ZoneCatalog,
        budget: BudgetTurn, log: Logger
    ) {
        (self.context, self.setup, self.registry, self.log) = (context, setup, registry, log)
        (self.zones, self.budget) = (zones, budget)
        store = AppRedis(app: setup.name, connection: context.redis)
        let event = AsyncEvent()
        self.event = event
        work = LeasedTask { event.signal() }
    }

    var app: String { setup.name }

    func start() {
        work.start { token throws(StoreError) in
            try await self.serve(token)
        } recover: { error, token in
            await self.recover(from: error, token)
        }
    }

    /// Ends the look-ups after the current call. Jobs that are not finished stay in Redis.
    func stop() async { await work.stop() }

    /// Applies the setup to the next look-ups.
    func apply(_ setup: IntakeSetup, registry: RedisConnection) {
        (self.setup, self.registry) = (setup, registry)
    }

    /// Uses this fencing token for all further calls; nil stops the work.
    func setFenceToken(_ token: FenceToken?) { work.setFenceToken(token) }

    /// Reads the waiting jobs, because a job was queued.
    func wake() { event.signal() }

    private func serve(_ token: FenceToken) async throws(StoreError) {
        // The first job may have crashed an earlier process. So the jobs of earlier processes are tried one by one.
        var isAlone = true
        while work.mayServe(token) {
            let step = LookupStep(lookups: self, token: token, isAlone: isAlone)
            let taken = try await step.take()
            if !taken.jobs.isEmpty {
                try await step.carryOut(taken)
            } else if taken.refused == 0 {
                if !isAlone { await event.wait(atMost: Self.longestWait) }
                isAlone = false
            }
        }
    }

    private func recover(from error: StoreError, _ token: FenceToken) async {
        await work.recover(from: error, of: "look-up of users and devices", log) {
            context.notify(.fenced(app: app, token: token.bytes))
        }
    }
}
