import ControlChannel
package import EventLoop
import FarmPolicy
import FarmStore
import Gateway
package import Logging
import Supervision

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// One worker process: does what its coordinator orders over the control channel, and ends with it.
@Loop package final class Worker {
    private typealias Control = ControlLink<Notice, Order>
    /// How long a worker whose coordinator is gone, or has lost its leases, waits for the answers to what is in the air.
    private static let orphanGrace = Duration.seconds(5)
    /// The slow poll: what heals a ring that was lost.
    private static let pollInterval = Duration.seconds(1)
    /// Between two looks for batches that bear our name in Redis and that we do not know of.
    private static let pollsBetweenLooks = 5

    private let log: Logger
    private let control: Control
    private var context: WorkerContext?
    private var apps: [String: AppSender] = [:]
    private var setups: [String: AppSetup] = [:]
    private var tokens: [String: (generation: UInt32, token: [UInt8])] = [:]
    private var beat: Timer?
    private var deadline: Timer?
    private var signals: [SignalWatcher] = []
    private var ending: CheckedContinuation<Int32, Never>?
    private var isFinishing = false
    private var status: Int32 = 0
    private var polls = 0

    package init(log: Logger) {
        self.log = log
        control = ControlLink(descriptor: ControlDescriptor.child, peer: "coordinator")
    }

    /// Runs until the work is done.
    /// - Returns: the process's exit status.
    package func run() async -> Int32 {
        control.onMessage = { [unowned self] order in obey(order) }
        control.onEnd = { [unowned self] error in
            if let error {
                log.critical("control channel broken", metadata: ["error": "\(error)"])
                return end(70)
            }
            log.warning("the coordinator is gone")
            finish(within: Self.orphanGrace)
        }
        signals = [SIGTERM, SIGINT].map { number in
            SignalWatcher(number) { [unowned self] in finish(within: .seconds(20)) }
        }
        return await withCheckedContinuation { ending = $0 }
    }

    private func tell(_ notice: Notice) { control.tell(notice) }

    private func obey(_ order: Order) {
        switch order {
        case .begin(let redis, let authority, let worker, let index):
            begin(redis, authority, worker, Int(index))
        case .app(let setup): configure(setup)
        case .provider(let app, let generation, let token, let reconnects):
            let isFirst = tokens[app] == nil
            tokens[app] = (generation, token)
            if isFirst || reconnects {
                if let setup = setups[app] { plan(setup) }
            } else {
                apps[app]?.renew(token, generation: generation)
            }
        case .forget(let app): apps[app]?.pause()
        case .shards(let app, let shards):
            let tokens = shards.map { (Int($0.number), FenceToken($0.fence)) }
            apps[app]?.assign(Dictionary(tokens) { $1 })
        case .ring(let app, let shards):
            apps[app]?.window.shards.ring(shards.lazy.map { Int($0) })
            apps[app]?.schedule()
        case .lease(let end):
            context?.leaseClock = LeaseClock(end: end)
            for app in apps.values { app.schedule() }
        case .pause(let app): apps[app]?.pause()
        case .resume(let app): apps[app]?.resume()
        case .finish(let milliseconds): finish(within: .milliseconds(Int64(milliseconds)))
        }
    }

    private func begin(_ redis: String, _ authority: [UInt8], _ name: String, _ index: Int) {
        guard context == nil else { return }
        let settings: RedisSettings
        do {
            settings = try RedisSettings(
                url: redis, authority: authority, clientName: "pushfarm-worker-\(name)")
        } catch {
            log.critical("cannot use the address of Redis", metadata: ["error": "\(error)"])
            return end(70)
        }
        let connection = RedisConnection(settings)
        context = WorkerContext(redis: connection, name: name, index: index, log: log) {
            [unowned self] notice in
            tell(notice)
        }
        var isKnown = false
        connection.onReady = { [unowned self] isOther in
            if !isKnown {
                tell(.hello(pid: getpid()))
                Memory.releaseIdleCode()
            }
            isKnown = true
            if isOther {
                log.notice("Redis is another process than before: telling it again what it may have lost")
            }
            for app in apps.values { app.reconnected(isOther: isOther) }
        }
        context?.onFenced = { [unowned self] app in fenced(app) }
        connection.onOutage = { [log] outage in
            switch outage {
            case .began(let error): log.warning("Redis is not reachable", metadata: ["error": "\(error)"])
            case .ended(let duration):
                log.notice("Redis is reachable again", metadata: ["after": "\(duration)"])
            }
        }
        connection.start()
        beat = Timer { [unowned self] in poll() }
        beat?.start(after: Self.pollInterval, every: Self.pollInterval)
    }

    private func configure(_ setup: AppSetup) {
        guard let context else { return }
        setups[setup.name] = setup
        if apps[setup.name] == nil { apps[setup.name] = AppSender(context, app: setup.name) }
        plan(setup)
    }

    /// Lets the app's sender follow its setup; with token authentication only once a token is here.
    private func plan(_ setup: AppSetup) {
        guard let context, let app = apps[setup.name] else { return }
        let token = tokens[setup.name]
        if setup.credentials == .providerToken, token == nil { return }
        do {
            let plan = try GatewayPlan(
                setup, token: setup.credentials == .providerToken ? token?.token : nil,
                generation: token?.generation ?? setup.generation, worker: context.index)
            app.follow(plan, topic: setup.topic)
        } catch {
            log.error("cannot use the credentials", metadata: ["app": "\(setup.name)", "error": "\(error)"])
            tell(
                .doubt(
                    app: setup.name, .credentialsWrong, generation: token?.generation ?? setup.generation,
                    reason: "\(error)"))
        }
    }

    private func poll() {
        var sum = Notice.Beat()
        for app in apps.values {
            app.window.shards.ringAll()
            app.expireOverdue()
            sum.connections += UInt32(app.pool.connections.count)
            sum.openStreams += UInt32(app.pool.openStreams)
            sum.batches += UInt32(app.window.held.count)
            sum.sent += app.counts.sent
            sum.delivered += app.counts.delivered
            sum.failed += app.counts.failed
            sum.retried += app.counts.retried
            sum.dials += UInt64(app.pool.dials)
        }
        polls += 1
        if polls.isMultiple(of: Self.pollsBetweenLooks) { for app in apps.values { app.lookAround() } }
        if polls.isMultiple(of: 3) { Memory.releaseIdleCode() }
        sum.residentBytes = Memory.residentBytes
        tell(.beat(sum))
        endIfIdle()
    }

    /// Our coordinator is not the owner that it takes itself for: it is to begin anew, and so are we.
    private func fenced(_ app: String) {
        guard !isFinishing else { return }
        log.warning("a shard has another owner: this worker ends", metadata: ["app": "\(app)"])
        tell(.fenced(app: app))
        for app in apps.values { app.tellAgain() }
        finish(within: Self.orphanGrace, status: ChildStatus.fenced)
    }

    /// Starts nothing more, waits for what is in the air, gives the rest back.
    private func finish(within grace: Duration, status: Int32 = 0) {
        guard !isFinishing else { return }
        isFinishing = true
        self.status = status
        for app in apps.values { app.finish() }
        deadline = Timer { [unowned self] in end(status) }
        deadline?.start(after: grace)
        beat = Timer { [unowned self] in endIfIdle() }
        beat?.start(after: .zero, every: .milliseconds(20))
    }

    private func endIfIdle() {
        guard isFinishing, apps.values.allSatisfy(\.isIdle) else { return }
        end(status)
    }

    private func end(_ status: Int32) {
        for app in apps.values { app.stop() }
        context?.redis.close()
        control.close()
        ending?.resume(returning: status)
        ending = nil
    }
}
