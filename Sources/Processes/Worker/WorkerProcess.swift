import ControlChannel
import Delivery
package import EventLoop
import FarmPolicy
import Gateway
package import Logging
import OpenSSL
import PushModel
import RedisClient
import StoreProtocol
package import Supervision

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// One worker process: it executes the orders of its coordinator, and exits when the coordinator exits.
@Loop package final class WorkerProcess {
    /// The interval of the slow poll, which compensates for lost wake-ups.
    private static let pollInterval = Duration.seconds(1)
    /// The number of polls between two searches for batches that Redis assigns to this worker and that the worker
    /// does not hold.
    private static let pollsBetweenSearches = 5

    private let log: Logger
    private let runtime: ChildRuntime<WorkerNotice, WorkerMessage>
    private var context: WorkerContext?
    private var apps: [String: AppSender] = [:]
    private var setups: [String: AppSetup] = [:]
    private var providerTokens: [String: (generation: UInt32, token: [UInt8])] = [:]
    private var pollTimer: Timer?
    private let readings: FeedbackReadings
    /// The timer that ends the process when no batch is held; nil unless the worker is finishing.
    private var idleWatch: Timer?
    private var polls = 0
    private var isQuiet = false

    package init(log: Logger, logging: ChildLogging) {
        self.log = log
        let runtime = ChildRuntime<WorkerNotice, WorkerMessage>(
            signalGrace: .seconds(20), log: log, logging: logging)
        self.runtime = runtime
        readings = FeedbackReadings(log: log) { runtime.send($0) }
    }

    /// Runs the worker until its work is done.
    /// - Returns: the exit status of the process.
    package func run() async -> Int32 {
        Loop.keep(self)
        runtime.onMessage = { [unowned self] message in carryOut(message) }
        runtime.onFinish = { [unowned self] in finish() }
        runtime.onDump = { [unowned self] in dump() }
        runtime.onQuiet = { [unowned self] in becomeQuiet() }
        let status = await runtime.run()
        pollTimer?.stop()
        idleWatch?.stop()
        for app in apps.values { app.stop() }
        context?.redis.close()
        return status
    }

    private func carryOut(_ message: WorkerMessage) {
        switch message {
        case .begin(let redis, let trustedCA, let worker, let index):
            begin(redis, trustedCA, worker, Int(index))
        case .app(let setup): configure(setup)
        case .provider(let app, let generation, let token, let reconnects):
            let isFirst = providerTokens[app] == nil
            providerTokens[app] = (generation, token)
            if isFirst || reconnects {
                if let setup = setups[app] { applyGatewaySettings(of: setup) }
            } else {
                apps[app]?.renew(token, generation: generation)
            }
        case .forget(let app): forget(app)
        case .shards(let app, let shards):
            let tokens = shards.map { (Int($0.number), FenceToken($0.fence)) }
            apps[app]?.assign(Dictionary(tokens) { $1 })
        case .batchesReady(let app, let shards):
            apps[app]?.window.shards.mayHaveBatches(shards.lazy.map { Int($0) })
            apps[app]?.schedule()
        case .suppressed(let app, let shards):
            apps[app]?.suppressionLists.readNewEntries(of: shards.lazy.map { Int($0) })
        case .feedback(let message):
            readings.begin(message, setup: setups[message.app], app: apps[message.app])
        case .lease(let end):
            context?.sendDeadline = SendDeadline(end: end)
            for app in apps.values { app.schedule() }
        case .pause(let app): apps[app]?.pause()
        case .resume(let app): if !isQuiet { apps[app]?.resume() }
        case .dump: dump()
        case .logLevel(let level): runtime.logging.setLevel(level)
        case .reopenLogs: runtime.logging.reopen()
        case .rate(let app, let rate):
            setups[app]?.use.budgetRate = rate
            apps[app]?.apply(budgetRate: rate > 0 ? rate : nil)
        case .returnBatches(let app, let jobs, let shards):
            apps[app]?.shards.returnBatches(jobs: Set(jobs), shards: shards.lazy.map { Int($0) })
        case .finish(let milliseconds): runtime.finish(within: .milliseconds(Int64(milliseconds)))
        }
    }

    private func begin(_ redis: String, _ trustedCA: [UInt8], _ name: String, _ index: Int) {
        guard context == nil else { return }
        let settings: RedisSettings
        do {
            settings = try RedisSettings(
                url: redis, trustedCA: trustedCA, clientName: "pushfarm-worker-\(name)")
        } catch {
            return runtime.fail("cannot use the address of Redis", error)
        }
        let connection = RedisConnection(settings)
        // After this object is released, closing connections have one more loop turn and may call this closure, so the closure
        // keeps only a weak reference.
        context = WorkerContext(redis: connection, name: name, index: index, log: log) {
            [weak self] notice in
            self?.runtime.send(notice)
        }
        var isKnown = false
        connection.onReady = { [unowned self] isOther in
            if !isKnown {
                runtime.send(.hello(pid: getpid()))
                ProcessMemory.releaseIdleCode()
            }
            isKnown = true
            if isOther {
                log.notice("Redis was restarted or replaced: the worker repeats its recent reports")
            }
            for app in apps.values { app.reconnected(isOther: isOther) }
        }
        context?.onFenced = { [unowned self] app in fenced(app) }
        connection.logOutages(to: log)
        connection.start()
        pollTimer = Timer { [unowned self] in poll() }
        pollTimer?.start(after: Self.pollInterval, every: Self.pollInterval)
    }

    private func configure(_ setup: AppSetup) {
        guard let context else { return }
        setups[setup.name] = setup
        if let known = apps[setup.name] {
            known.appConfiguredAgain()
        } else {
            let app = AppSender(context, app: setup.name)
            apps[setup.name] = app
            if isQuiet { app.pause() }
        }
        applyGatewaySettings(of: setup)
    }

    /// Forgets the setup of an app that is no longer served.
    private func forget(_ app: String) {
        (setups[app], providerTokens[app]) = (nil, nil)
        apps[app]?.leave()
    }

    /// Applies an app's setup to its sender. With token authentication, nothing is applied until a provider token is
    /// known.
    private func applyGatewaySettings(of setup: AppSetup) {
        guard let context, let app = apps[setup.name] else { return }
        let token = providerTokens[setup.name]
        if setup.credentials == .providerToken, token == nil { return }
        do {
            let gatewaySettings = try GatewaySettings(
                setup, token: setup.credentials == .providerToken ? token?.token : nil,
                generation: token?.generation ?? setup.generation, worker: context.index)
            app.window.setMarksDelivered(setup.isAudited)
            app.suppressionLists.life = Int64(setup.suppressionSeconds)
            app.setShare(weight: Int(setup.weight), bulkFloor: Int(setup.bulkFloor))
            app.apply(
                gatewaySettings, topic: setup.topic, environment: setup.environment,
                limits: RateLimits(setup.use),
                budget: FarmBudget(setup.use), shards: max(1, Int(setup.use.shards)))
        } catch {
            log.error("cannot use the credentials", metadata: ["app": "\(setup.name)", "error": "\(error)"])
            runtime.send(
                .settingRejected(
                    app: setup.name, .credentialsWrong, generation: token?.generation ?? setup.generation,
                    reason: "\(error)"))
        }
    }

    private func poll() {
        polls += 1
        if !runtime.isFinishing { pollApps() }
        if polls.isMultiple(of: 3) { ProcessMemory.releaseIdleCode() }
        sendNumbers()
    }

    private func pollApps() {
        for app in apps.values {
            app.window.shards.allMayHaveBatches()
            app.expireOverdue()
            if polls.isMultiple(of: Self.pollsBetweenSearches) { app.searchBatches() }
        }
    }

    private func sendNumbers() {
        var sum = WorkerNotice.Heartbeat()
        for app in apps.values { app.add(to: &sum) }
        sum.isQuiet = isQuiet
        sum.residentBytes = ProcessMemory.residentBytes
        let time = ProcessorTime.now
        (sum.processorTaken, sum.processorQueued) = (time.taken, time.queued)
        runtime.send(.heartbeat(sum))
    }

    /// Becomes quiet after a signal, permanently: the worker checks out nothing more, even when it gets new
    /// shards.
    private func becomeQuiet() {
        log.notice("quiet: taking no new work")
        for app in apps.values { app.pause() }
        isQuiet = true
    }

    /// Writes the state of all apps to the log.
    private func dump() {
        log.notice(
            "dump",
            metadata: [
                "name": "\(context?.name ?? "")", "apps": "\(apps.count)",
                "finishing": "\(runtime.isFinishing)",
                "memory": "\(ProcessMemory.residentBytes)", "polls": "\(polls)",
            ])
        for (name, app) in apps.sorted(by: { $0.key < $1.key }) {
            log.notice("dump", metadata: ["app": "\(name)", "state": "\(app.summary)"])
            for connection in app.connectionSummaries {
                log.notice("dump", metadata: ["app": "\(name)", "connection": "\(connection)"])
            }
        }
    }

    /// Handles a shard that another host owns although this host's coordinator has given the shard to this worker. The worker
    /// exits, and worker and coordinator start again.
    private func fenced(_ app: String) {
        guard !runtime.isFinishing else { return }
        log.warning("another host owns a shard of this worker: the worker exits", metadata: ["app": "\(app)"])
        runtime.send(.fenced(app: app))
        for app in apps.values { app.repeatReports() }
        runtime.finish(within: runtime.orphanGrace, status: ChildExitStatus.fenced)
    }

    /// Stops sending, awaits pushes in flight, and returns all other batches to Redis. Heartbeats continue.
    private func finish() {
        for app in apps.values { app.finish() }
        idleWatch = Timer { [unowned self] in
            if apps.values.allSatisfy(\.isIdle), readings.isEmpty { runtime.end() }
        }
        idleWatch?.start(after: .zero, every: .milliseconds(20))
    }
}
