import EventLoop
import FarmPolicy
import PushModel

/// Carries out operators' commands, one function for each verb. Commands arrive through Redis or the control socket.
@Loop final class HostOperations {
    private unowned let context: HostContext
    private lazy var consumer = OperationConsumer(
        context.farmRedis, host: context.host, log: context.log, changes: context.changes
    ) { [unowned self] command, operation async throws(OperationRefusal) in
        try await carryOut(command, operation)
    }
    private(set) lazy var control = ControlServer(
        context.configuration.stateDirectory + "/control.sock", log: context.log
    ) { [unowned self] command, reply in consumer.begin(command, reply: reply) }
    /// Reads new commands soon. Several calls cause only one read.
    private(set) lazy var readSoon = WakeUp { [unowned self] in await read() }

    init(_ context: HostContext) { self.context = context }

    // MARK: Where commands come from

    /// Reads the commands that operators have put into Redis for this host.
    ///
    /// During an upgrade, only the coordinator with the host's name reads commands. The coordinator without the name reads no
    /// commands, because operators' commands are not for its workers.
    func read() async {
        guard context.lifecycle.nameHolder == .thisProcess else { return }
        await consumer.readNew()
    }

    /// Waits up to 5 seconds until all running commands, such as the command that stops the host, have replied.
    func waitForReplies() async {
        _ = await context.changes.until(.now + .seconds(5)) { consumer.underWay.isEmpty }
    }

    // MARK: Verbs

    /// Carries out a command. The host's heartbeat entry shows the effect of the command before the reply is sent.
    private func carryOut(
        _ command: OperatorCommand, _ operation: RunningCommand
    ) async throws(OperationRefusal) -> String {
        let text = try await dispatch(command, operation)
        if !command.isDryRun, context.redis.isReady, context.lifecycle.nameHolder == .thisProcess {
            await context.registration.sendHeartbeat()
        }
        return text
    }

    private func dispatch(
        _ command: OperatorCommand, _ operation: RunningCommand
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
        let serving = ServingCommands(context: context)
        let processes = WorkerProcessCommands(context: context)
        let diagnostics = DiagnosticCommands(context: context)
        switch verb {
        case .refresh: return await followStoredState()
        case .status: return String(decoding: context.status.line, as: UTF8.self)
        case .scale:
            return try await ScaleOperation(context: context).run(
                try words.first(DesiredWorkers.words), isDry, operation)
        case .quiet: return try await serving.quiet(try worker(words), isDry, operation)
        case .resume: return try await serving.resume(try worker(words), isDry)
        case .drain: return try await serving.drain(try worker(words), isDry, operation)
        case .stop:
            if let slot = try worker(words) { return try await processes.stop(slot, isDry) }
            return try await stopHost(isDry, operation)
        case .restart:
            return try await processes.restart(
                try worker(words), isRolling: words.has("rolling"), isDry, operation)
        case .upgrade: return try await upgrade(words, isDry, operation)
        case .reload: return try await context.reload.run(isDry)
        case .takeover:
            return try await TakeoverOperation(context: context).run(
                try words.first("app"), try words.number(1, "shard"), isForced: words.has("force"), isDry)
        case .kill:
            return try processes.kill(try worker(words), hasTrace: words.has("abrt"), isDry)
        case .purge: return try diagnostics.purge(isDry)
        case .dump: return try diagnostics.dump(try worker(words), isDry)
        case .logLevel: return try diagnostics.setLogLevel(try words.first("level"), isDry)
        }
    }

    /// The worker that the command names; nil if the command is for the whole host.
    private func worker(_ words: OperatorArguments) throws(OperationRefusal) -> WorkerSlot? {
        guard let text = words.words.first else { return nil }
        let size = context.shards.placement.size
        guard let index = Int(foreign: text), index >= 0, index < context.fleet.slots.count,
            index < size || context.fleet.slots[index].child.pid > 0
        else {
            let known = context.fleet.slots.prefix(size).map { "\($0.index)" }.joined(separator: " ")
            throw OperationRefusal("there is no worker \(text) on \(context.host): its workers are \(known)")
        }
        return context.fleet.slots[index]
    }

    /// Reads the pauses, the rates and the desired state from Redis and applies them at once.
    private func followStoredState() async -> String {
        await context.desired.apply()
        for app in context.apps.all { await app.credentials.refresh() }
        return "the stored state is applied"
    }

    private func upgrade(
        _ words: OperatorArguments, _ isDry: Bool, _ operation: RunningCommand
    ) async throws(OperationRefusal) -> String {
        guard !words.has("binary") else {
            throw OperationRefusal(
                "no operator names a program to run: set program in this host's configuration, and reload")
        }
        if words.has("abort") { return context.upgrade.abort(isDry) }
        return try await context.upgrade.run(isDry, operation)
    }

    private func stopHost(_ isDry: Bool, _ operation: RunningCommand) async throws(OperationRefusal) -> String
    {
        if isDry {
            return
                "would drain and end the coordinator, \(context.shards.placement.size) workers and the intake"
        }
        guard context.lifecycle.hasChildren else {
            // Send the reply before the stop, because no process can send it after the stop.
            Loop.task {
                _ = await self.context.changes.until(.now + .seconds(5)) { operation.hasEnded }
                self.context.shutdown.stop()
            }
            return "stops before it was ready"
        }
        let newOwners = ServingCommands(context: context).newOwners
        context.shutdown.stop()
        let limit = context.shutdown.gracePeriod + .seconds(10)
        guard
            await context.changes.until(
                .now + limit, { context.lifecycle.haveChildrenEnded })
        else { throw .failed("the host is still stopping after \(limit.components.seconds) s") }
        return "has ended in order; its shards go to \(newOwners)"
    }
}
