import ControlChannel
package import EventLoop
package import Logging
import POSIX
import RedisClient
import Registry
import Scheduling
import StoreProtocol
package import Supervision

/// The intake process of one host: turns the jobs and campaigns of all apps into batches, and applies device inputs.
/// Only this process parses producers' data, and this process has no signing key.
///
/// The process follows its coordinator's messages on the control channel, and exits when the coordinator exits.
@Loop package final class IntakeProcess {
    private static let heartbeatInterval = Duration.seconds(1)

    private let log: Logger
    private let runtime: ChildRuntime<IntakeNotice, IntakeMessage>
    private var context: IntakeContext?
    private var apps: [String: AppIntake] = [:]
    private var devices: [String: DeviceIntake] = [:]
    /// The last fencing token of each app.
    private var fenceTokens: [String: FenceToken] = [:]
    private var registries: RegistryConnections?
    private var campaigns: [String: CampaignIntake] = [:]
    private var censuses: [String: RegistryCensus] = [:]
    private let zones: ZoneCatalog
    private var heartbeat: Timer?
    private var heartbeats = 0

    package init(log: Logger, logging: ChildLogging) {
        self.log = log
        zones = ZoneCatalog { path in try? SmallFile.read(path) }
        runtime = ChildRuntime(signalGrace: .seconds(5), log: log, logging: logging)
    }

    /// Runs until the work is finished.
    /// - Returns: the process's exit status.
    package func run() async -> Int32 {
        Loop.keep(self)
        runtime.onMessage = { [unowned self] message in handle(message) }
        runtime.onFinish = { [unowned self] in finish() }
        let status = await runtime.run()
        heartbeat?.stop()
        context?.redis.close()
        registries?.close()
        return status
    }

    private func handle(_ message: IntakeMessage) {
        switch message {
        case .begin(let redis, let trustedCA, let name, let shards):
            begin(redis, trustedCA, name, Int(shards))
        case .app(let setup): configure(setup)
        case .forget(let name): forget(name)
        case .fence(let app, let bytes):
            let token = bytes.isEmpty ? nil : FenceToken(bytes)
            fenceTokens[app] = token
            apps[app]?.setFenceToken(token)
            devices[app]?.setFenceToken(token)
            campaigns[app]?.setFenceToken(token)
            censuses[app]?.setFenceToken(token)
        case .logLevel(let level): runtime.logging.setLevel(level)
        case .reopenLogs: runtime.logging.reopen()
        case .finish(let milliseconds): runtime.finish(within: .milliseconds(Int64(milliseconds)))
        }
    }

    private func begin(_ redis: String, _ trustedCA: [UInt8], _ name: String, _ shards: Int) {
        guard context == nil else { return }
        let settings: RedisSettings
        do {
            settings = try RedisSettings(
                url: redis, trustedCA: trustedCA, clientName: "pushfarm-intake-\(name)")
        } catch {
            return runtime.fail("cannot use the address of Redis", error)
        }
        let connection = RedisConnection(settings)
        registries = RegistryConnections(farm: connection, trustedCA: trustedCA, name: name, log: log)
        let context = IntakeContext(redis: connection, shards: shards, log: log) { [unowned self] notice in
            send(notice)
        }
        self.context = context
        var isKnown = false
        connection.onReady = { [unowned self] _ in
            if !isKnown { send(.hello) }
            isKnown = true
        }
        connection.logOutages(to: log)
        connection.start()
        heartbeat = Timer { [unowned self] in sendNumbers() }
        heartbeat?.start(after: Self.heartbeatInterval, every: Self.heartbeatInterval)
    }

    private func send(_ notice: IntakeNotice) {
        runtime.send(notice)
        // Send at once, because the work that begins now may crash the process.
        if case .works = notice { runtime.sendNow() }
    }

    private func configure(_ setup: IntakeSetup) {
        guard let context, let registries, !runtime.isFinishing else { return }
        let connection = registries.connection(setup.registry)
        let old = apps[setup.name]
        if let old {
            let hasMoved = old.setup.registry != setup.registry
            old.apply(setup, registry: connection)
            devices[setup.name]?.use(DeviceInputRules(setup))
            campaigns[setup.name]?.apply(setup, registry: connection)
            censuses[setup.name]?.use(connection)
            guard hasMoved else { return }
        } else {
            let budget = BudgetTurn()
            let app = AppIntake(context, setup, registry: connection, zones: zones, budget: budget)
            apps[setup.name] = app
            app.start()
            let runner = CampaignIntake(
                context, setup, registry: connection, zones: zones, budget: budget)
            campaigns[setup.name] = runner
            runner.start()
            let census = RegistryCensus(context, app: setup.name, registry: connection)
            censuses[setup.name] = census
            census.start()
        }
        let former = devices[setup.name]
        let registry = RegistryWriter(app: setup.name, connection: connection, log: log)
        let runner = campaigns[setup.name]
        let writer = RegistryDeviceWriter(registry) { [weak runner] in runner?.allowsReuseOfOrdinals ?? false
        }
        let intake = DeviceIntake(
            context, app: setup.name, rules: DeviceInputRules(setup), writer: writer)
        devices[setup.name] = intake
        intake.setFenceToken(fenceTokens[setup.name])
        Loop.task {
            // Stop the former device intake, so that it applies no more inputs to the former registry.
            await former?.stop()
            if self.devices[setup.name] === intake { intake.start() }
        }
    }

    private func forget(_ name: String) {
        fenceTokens[name] = nil
        let (app, intake) = (apps.removeValue(forKey: name), devices.removeValue(forKey: name))
        let (runner, census) = (campaigns.removeValue(forKey: name), censuses.removeValue(forKey: name))
        context?.forgetCounts(of: name)
        Loop.task {
            await app?.stop()
            await intake?.stop()
            await runner?.stop()
            await census?.stop()
        }
    }

    private func sendNumbers() {
        guard let context else { return }
        heartbeats += 1
        if heartbeats.isMultiple(of: 3) { ProcessMemory.releaseIdleCode() }
        context.counts.residentBytes = ProcessMemory.residentBytes
        context.counts.apps = campaigns.keys.sorted().compactMap(numbers)
        send(.heartbeat(context.counts))
    }

    /// The numbers of an app; nil if this process does not know the app's campaigns.
    private func numbers(ofApp name: String) -> IntakeNotice.Heartbeat.App? {
        guard let runner = campaigns[name], let numbers = runner.numbers else { return nil }
        var app = IntakeNotice.Heartbeat.App(name: name)
        app.campaigns = numbers
        if let census = censuses[name] {
            app.devices.stored = census.stored.map { UInt64(clamping: $0) }
            app.devices.alive = census.alive.map { UInt64(clamping: $0) }
            app.devices.isRegistryUp = census.isRegistryUp
        }
        guard let counts = context?.counts(of: name) else { return app }
        (app.devices.inputs, app.devices.refused) = (counts.deviceInputs, counts.refusedDeviceInputs)
        (app.lookups, app.campaignDevices) = (counts.lookups, counts.handledDevices)
        return app
    }

    /// Finishes the current steps and starts no new step.
    private func finish() {
        let endings =
            apps.values.map { app in Loop.task { await app.stop() } }
            + devices.values.map { intake in Loop.task { await intake.stop() } }
            + campaigns.values.map { runner in Loop.task { await runner.stop() } }
            + censuses.values.map { census in Loop.task { await census.stop() } }
        Loop.task {
            for ending in endings { await ending.value }
            self.runtime.end()
        }
    }
}

extension DeviceInputRules {
    fileprivate init(_ setup: IntakeSetup) {
        self.init(environment: setup.isSandbox ? .sandbox : .production)
    }
}

/// The state that the apps of one intake share.
@Loop final class IntakeContext {
    let redis: RedisConnection
    /// The farm's number of shards.
    let shards: Int
    let log: Logger
    /// Sends a notice to the coordinator.
    let notify: @Loop (IntakeNotice) -> Void
    let isolation = SuspectJobIsolation()
    var counts = IntakeNotice.Heartbeat()
    private var appCounts: [String: AppCounts] = [:]

    init(
        redis: RedisConnection, shards: Int, log: Logger, notify: @escaping @Loop (IntakeNotice) -> Void
    ) {
        (self.redis, self.shards) = (redis, shards)
        (self.log, self.notify) = (log, notify)
    }

    /// The counts of an app, which begin at 0.
    func counts(of app: String) -> AppCounts {
        if let counts = appCounts[app] { return counts }
        let counts = AppCounts()
        appCounts[app] = counts
        return counts
    }

    /// Forgets the counts of an app that is no longer configured.
    func forgetCounts(of app: String) { appCounts[app] = nil }
}
