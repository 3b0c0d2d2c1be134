import ControlChannel
import EventLoop
import FarmPolicy
import Logging
import PushModel
import RedisClient
import StoreProtocol

/// Carries out operators' commands, one function for each verb; they come by Redis or by the control socket.
@Loop final class HostOperations {
    /// The parts that carry out commands.
    struct Commands {
        let scale: ScaleOperation
        let serving: ServingCommands
        let processes: WorkerProcessCommands
        let takeover: TakeoverOperation
        let diagnostics: DiagnosticCommands
        let upgrade: HostUpgrade
        let reload: ConfigurationReload
    }

    private let context: HostContext
    private let apps: HostedApps
    private let fleet: WorkerFleet
    private let shards: ShardDistribution
    private let registration: HostRegistration
    private let status: HostReport
    private let desired: DesiredState
    private let shutdown: HostShutdown
    private let commands: Commands
    private lazy var consumer = OperationConsumer(context.registry, host: context.host, log: context.log) {
        [unowned self] command, operation async throws(OperationRefusal) in
        try await carryOut(command, operation)
    }
    private lazy var control = ControlServer(
        context.configuration.stateDirectory + "/control.sock", log: context.log
    ) { [unowned self] command, reply in consumer.begin(command, reply: reply) }
    /// Reads new commands soon, once for any number of calls.
    private(set) lazy var readSoon = WakeUp { [unowned self] in await read() }

    init(
        _ context: HostContext, _ apps: HostedApps, _ fleet: WorkerFleet, _ shards: ShardDistribution,
        _ registration: HostRegistration, _ status: HostReport, _ desired: DesiredState,
        _ shutdown: HostShutdown, _ commands: Commands
    ) {
        (self.context, self.apps, self.fleet, self.shards) = (context, apps, fleet, shards)
        (self.registration, self.status, self.desired) = (registration, status, desired)
        (self.shutdown, self.commands) = (shutdown, commands)
        consumer.onEnd = { [changes = context.changes] in changes.signal() }
    }

    // MARK: Where commands come from

    func openControlSocket() async { await control.open() }

    /// - Parameter isKept: another coordinator has the socket's path.
    func shutControlSocket(isKept: Bool) { control.shut(isKept: isKept) }

    func closeControlSocket() { control.close() }

    /// Reads the commands that operators have put into Redis for this host.
    ///
    /// Of two coordinators in an upgrade the one with the host's name reads them: the other one knows of no upgrade, and its
    /// workers are not those that an operator means.
    func read() async {
        guard context.lifecycle.nameHolder == .thisProcess else { return }
        await consumer.readNew()
    }

    /// Waits a few seconds until the operators who stopped the host have their answers.
    func waitForAnswers() async {
        _ = await context.changes.until(.now + .seconds(5)) { [unowned self] in consumer.underWay.isEmpty }
    }

    // MARK: Verbs

    /// Carries out a command. When the answer comes, the host's line shows what was done.
    private func carryOut(
        _ command: OperatorCommand, _ operation: Operation
    ) async throws(OperationRefusal) -> String {
        let answer = try await dispatch(command, operation)
        if !command.isDryRun, context.redis.isReady, context.lifecycle.nameHolder == .thisProcess {
            await registration.sendHeartbeat()
        }
        return answer
    }

    private func dispatch(
        _ command: OperatorCommand, _ operation: Operation
    ) async throws(OperationRefusal) -> String {
        guard let verb = OperatorVerb(rawValue: command.verb) else {
            throw OperationRefusal(
                "this coordinator does not know \(command.verb); is it older than the command?")
        }
        guard !context.lifecycle.isStopping || verb == .status else {
            throw OperationRefusal("this host is stopping")
        }
        let words = OperatorArguments(command.arguments)
        let isDry = command.isDryRun
        switch verb {
        case .look: return await followStoredState()
        case .status: return String(decoding: status.line, as: UTF8.self)
        case .scale:
            return try await commands.scale.run(try words.first(DesiredWorkers.words), isDry, operation)
        case .quiet: return try await commands.serving.quiet(try worker(words), isDry, operation)
        case .resume: return try await commands.serving.resume(try worker(words), isDry)
        case .drain: return try await commands.serving.drain(try worker(words), isDry, operation)
        case .stop:
            if let slot = try worker(words) { return try await commands.processes.stop(slot, isDry) }
            return try await stopHost(isDry, operation)
        case .restart:
            return try await commands.processes.restart(
                try worker(words), isRolling: words.has("rolling"), isDry, operation)
        case .upgrade: return try await upgrade(words, isDry, operation)
        case .reload: return try await commands.reload.run(isDry)
        case .takeover:
            return try await commands.takeover.run(
                try words.first("app"), try words.number(1, "shard"), isForced: words.has("force"), isDry)
        case .kill:
            return try commands.processes.kill(try worker(words), hasTrace: words.has("abrt"), isDry)
        case .purge: return try commands.diagnostics.purge(isDry)
        case .dump: return try commands.diagnostics.dump(try worker(words), isDry)
        case .logLevel: return try commands.diagnostics.setLogLevel(try words.first("level"), isDry)
        }
    }

    /// The worker that the command names; nil: it concerns the host.
    private func worker(_ words: OperatorArguments) throws(OperationRefusal) -> WorkerSlot? {
        guard let text = words.words.first else { return nil }
        let size = shards.placement.size
        guard let index = Int(foreign: text), index >= 0, index < fleet.slots.count,
            index < size || fleet.slots[index].pid > 0
        else {
            let known = fleet.slots.prefix(size).map { "\($0.index)" }.joined(separator: " ")
            throw OperationRefusal("there is no worker \(text) on \(context.host): it has \(known)")
        }
        return fleet.slots[index]
    }

    /// Applies at once the state in Redis.
    private func followStoredState() async -> String {
        await desired.follow()
        for app in apps.all { await app.credentials.refresh() }
        return "looked at what is stored"
    }

    private func upgrade(
        _ words: OperatorArguments, _ isDry: Bool, _ operation: Operation
    ) async throws(OperationRefusal) -> String {
        guard !words.has("binary") else {
            throw OperationRefusal(
                "no operator names a program to run: set program in this host's configuration, and reload")
        }
        if words.has("abort") { return commands.upgrade.abort(isDry) }
        return try await commands.upgrade.run(isDry, operation)
    }

    private func stopHost(_ isDry: Bool, _ operation: Operation) async throws(OperationRefusal) -> String {
        if isDry {
            return "would drain and end the coordinator, \(shards.placement.size) workers and the intake"
        }
        guard context.lifecycle.hasChildren else {
            // The answer goes first: afterwards no process is left to send it.
            Loop.task {
                _ = await self.context.changes.until(.now + .seconds(5)) { operation.hasEnded }
                self.shutdown.stop()
            }
            return "ends before it was ready"
        }
        let heirs = commands.serving.heirs
        shutdown.stop()
        let limit = shutdown.gracePeriod + .seconds(10)
        guard
            await context.changes.until(
                .now + limit, { [unowned self] in context.lifecycle.haveChildrenEnded })
        else { throw .failed("still ending after \(limit.components.seconds) s") }
        return "has ended in order; its shards go to \(heirs)"
    }
}
